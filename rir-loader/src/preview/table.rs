//! The preview as text.

use std::fmt;

use hierarchy::remap::RangeChange;

use super::{CededRange, Change, Changes, Preview};
use crate::thousands::Thousands;

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = Thousands(self.subnets_after);
        writeln!(f, "A dry run: nothing was changed.")?;
        let Some(generation) = self.generation else {
            return writeln!(
                f,
                "Nothing is loaded yet, so these files ({after} subnets) would change nothing else."
            );
        };
        let before = Thousands(self.subnets_before);
        writeln!(
            f,
            "Generation {generation}, in use, has {before} subnets; with these files there would \
             be {after}."
        )?;
        if let Some(refused) = &self.refused {
            writeln!(f, "Without --force the load would be refused: {refused}.")?;
        }
        write_table(f, [&self.delegations, &self.searches, &self.constraints])?;
        write_examples(f, &self.delegations, "delegation")?;
        write_examples(f, &self.searches, "search")?;
        write_examples(f, &self.constraints, "pin or exclusion")
    }
}

fn write_table(f: &mut fmt::Formatter<'_>, kinds: [&Changes; 3]) -> fmt::Result {
    writeln!(f, "{:>11}  {:>11}  {:>11}", "delegations", "searches", "pins etc.")?;
    let mut write_row = |counts: [u64; 3], what: &str| {
        let [delegations, searches, constraints] = counts.map(Thousands);
        writeln!(f, "{delegations:>11}  {searches:>11}  {constraints:>11}  {what}")
    };
    write_row(kinds.map(|changes| changes.total), "in all, of which the range")?;
    for change in RangeChange::ALL {
        write_row(kinds.map(|changes| changes.count(change)), effect(change))?;
    }
    write_row(kinds.map(|changes| changes.ended), "would end, because another has the place")
}

fn effect(change: RangeChange) -> &'static str {
    match change {
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

fn write_examples(f: &mut fmt::Formatter<'_>, changes: &Changes, kind: &str) -> fmt::Result {
    for change in RangeChange::ALL {
        let is_of_kind = |one: &&Change| one.change == change.as_str();
        let examples: Vec<&Change> = changes.examples.iter().filter(is_of_kind).collect();
        if examples.is_empty() {
            continue;
        }
        writeln!(f, "{change}:")?;
        examples.iter().try_for_each(|one| writeln!(f, "  {kind} {one}"))?;
        let more = changes.count(change) - examples.len() as u64;
        if more > 0 {
            writeln!(f, "  … and {} more", Thousands(more))?;
        }
    }
    Ok(())
}

/// `7 of agent 3: 192.0.2.0/24 -> 192.0.2.0/25, 192.0.2.128/25`
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if let Some(agent) = self.agent {
            write!(f, " of agent {agent}")?;
        }
        write!(f, ": {}", self.from)?;
        if self.change == RangeChange::Transferred.as_str() {
            let [before, after] =
                self.holders.each_ref().map(|holder| holder.as_deref().unwrap_or("nobody"));
            return write!(f, " stays; held by {before}, then by {after}");
        }
        if self.to.is_empty() {
            write!(f, " ends")?;
        } else {
            write!(f, " -> {}", self.to.join(", "))?;
        }
        for CededRange { range, to } in &self.ceded {
            write!(f, "; {range} is number {to}'s")?;
        }
        Ok(())
    }
}
