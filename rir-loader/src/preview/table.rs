//! The preview for a person.

use std::fmt;

use hierarchy::remap::RangeChange;

use super::{Move, Moves, Preview};
use crate::report::Thousands;

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = Thousands(self.subnets_after);
        writeln!(f, "A dry run: nothing was changed.")?;
        let Some(generation) = self.generation else {
            return writeln!(
                f,
                "Nothing is loaded yet, so a load of these files ({after} subnets) would have nothing to carry over."
            );
        };
        let before = Thousands(self.subnets_before);
        writeln!(
            f,
            "Generation {generation}, in use, has {before} subnets; with these files there would be {after}."
        )?;
        if let Some(refused) = &self.refused {
            writeln!(f, "Without --force the load would be refused: {refused}.")?;
        }
        write_table(f, [&self.delegations, &self.searches, &self.rules])?;
        write_examples(f, &self.delegations, "delegation")?;
        write_examples(f, &self.searches, "search")?;
        write_examples(f, &self.rules, "pin or exclusion")
    }
}

fn write_table(f: &mut fmt::Formatter<'_>, kinds: [&Moves; 3]) -> fmt::Result {
    writeln!(f, "{:>11}  {:>11}  {:>11}", "delegations", "searches", "pins etc.")?;
    let mut row = |counts: [u64; 3], what: &str| {
        let [one, two, three] = counts.map(Thousands);
        writeln!(f, "{one:>11}  {two:>11}  {three:>11}  {what}")
    };
    row(kinds.map(|moves| moves.total), "in all, of which the range")?;
    for fate in RangeChange::ALL {
        row(kinds.map(|moves| moves.fates.of(fate)), meaning(fate))?;
    }
    row(kinds.map(|moves| moves.ended), "would end, because another has the place")
}

fn meaning(fate: RangeChange) -> &'static str {
    match fate {
        RangeChange::Same => "is the same: they stay",
        RangeChange::Transferred => {
            "is the same, but another company holds it (transferred): they stay"
        }
        RangeChange::Split => {
            "is cut into smaller ones (split): a delegation goes to each part, a pin counts for all"
        }
        RangeChange::Merged => "is part of a larger new one (merged): they go there",
        RangeChange::Vanished => {
            "is not recorded any more (vanished): they go to the smallest subnet around"
        }
    }
}

fn write_examples(f: &mut fmt::Formatter<'_>, moves: &Moves, kind: &str) -> fmt::Result {
    for fate in RangeChange::ALL {
        let mut such = moves.examples.iter().filter(|one| one.why == fate.as_str()).peekable();
        if such.peek().is_none() {
            continue;
        }
        let shown = moves.examples.iter().filter(|one| one.why == fate.as_str()).count() as u64;
        writeln!(f, "{fate}:")?;
        such.try_for_each(|one| writeln!(f, "  {kind} {one}"))?;
        if moves.fates.of(fate) > shown {
            writeln!(f, "  … and {} more", Thousands(moves.fates.of(fate) - shown))?;
        }
    }
    Ok(())
}

/// `7 of agent 3: 192.0.2.0/24 -> 192.0.2.0/25, 192.0.2.128/25`
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if let Some(agent) = self.agent {
            write!(f, " of agent {agent}")?;
        }
        write!(f, ": {}", self.from)?;
        if self.why == RangeChange::Transferred.as_str() {
            let [before, after] = &self.holders;
            let name =
                |holder: &Option<String>| holder.clone().unwrap_or_else(|| "nobody".to_owned());
            return write!(f, " stays; held by {}, then by {}", name(before), name(after));
        }
        match &self.to[..] {
            [] => write!(f, " ends")?,
            places => write!(f, " -> {}", places.join(", "))?,
        }
        self.yields
            .iter()
            .try_for_each(|one| write!(f, "; {} is delegation {}'s", one.range, one.to))
    }
}
