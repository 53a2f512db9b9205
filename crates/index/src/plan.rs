//! Here is what somebody wants: which tantivy query finds and ranks it?
//!
//! Each word counts by its best field (BM25): title three times, text once, words of the URL, and
//! stems at a discount, so that the exact form wins. Pages must hold all of up to three words, and
//! three quarters of more. Words that follow each other as typed lift a page further.

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, FuzzyTermQuery,
    Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::schema::Fields;
use crate::wish::{Part, Wish};

const TITLE: f32 = 3.0;
const PLACE: f32 = 1.2;
const STEM: f32 = 0.6;
const IN_ORDER: f32 = 1.5;
/// Share of the lesser fields that is added to the best.
const TIE: f32 = 0.2;

type Clause = (Occur, Box<dyn Query>);

/// The query for a wish that is not empty.
pub(crate) fn plan(wish: &Wish, fields: &Fields) -> Box<dyn Query> {
    let mut clauses: Vec<Clause> = Vec::new();
    if wish.parts.is_empty() {
        clauses.push((Occur::Must, Box::new(AllQuery)));
    } else {
        clauses.push((Occur::Must, Box::new(enough_of(&wish.parts, fields))));
        clauses.extend(in_order(&wish.parts, fields).map(|query| (Occur::Should, query)));
    }
    clauses.extend(wish.unwanted.iter().map(|part| (Occur::MustNot, holds(part, fields))));
    clauses.extend(any_of(fields.site, &wish.sites).map(|query| (Occur::Must, query)));
    clauses.extend(any_of(fields.lang, &wish.langs).map(|query| (Occur::Must, query)));
    clauses.extend(any_of(fields.site, &wish.not_sites).map(|query| (Occur::MustNot, query)));
    clauses.extend(any_of(fields.lang, &wish.not_langs).map(|query| (Occur::MustNot, query)));
    Box::new(BooleanQuery::new(clauses))
}

fn enough_of(parts: &[Part], fields: &Fields) -> BooleanQuery {
    let needed = if parts.len() <= 3 { parts.len() } else { (parts.len() * 3).div_ceil(4) };
    let clauses = parts.iter().map(|part| (Occur::Should, ranked(part, fields))).collect();
    BooleanQuery::with_minimum_required_clauses(clauses, needed)
}

/// How well a page holds one part.
fn ranked(part: &Part, fields: &Fields) -> Box<dyn Query> {
    let by_field = match part {
        Part::Word { term, stems } => {
            let mut by_field = vec![
                boosted(word(fields.title, term), TITLE),
                word(fields.body, term),
                boosted(word(fields.place, term), PLACE),
            ];
            by_field.extend(stems.iter().map(|stem| boosted(word(fields.stems, stem), STEM)));
            by_field
        }
        Part::Phrase(terms) => {
            vec![boosted(phrase(fields.title, terms), TITLE), phrase(fields.body, terms)]
        }
        Part::Beginning(letter) => {
            vec![boosted(beginning(fields.title, letter), TITLE), beginning(fields.body, letter)]
        }
    };
    Box::new(DisjunctionMaxQuery::with_tie_breaker(by_field, TIE))
}

/// Whether a page holds an unwanted part as typed; its other forms may stay.
fn holds(part: &Part, fields: &Fields) -> Box<dyn Query> {
    let in_field = |field| match part {
        Part::Word { term, .. } => word(field, term),
        Part::Phrase(terms) => phrase(field, terms),
        Part::Beginning(letter) => beginning(field, letter),
    };
    Box::new(BooleanQuery::union(vec![in_field(fields.title), in_field(fields.body)]))
}

/// Several words one after the other, as typed.
fn in_order<'a>(parts: &'a [Part], fields: &'a Fields) -> impl Iterator<Item = Box<dyn Query>> {
    let terms: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Word { term, .. } => Some(term.clone()),
            Part::Phrase(_) | Part::Beginning(_) => None,
        })
        .collect();
    let fields = if terms.len() < 2 { vec![] } else { vec![fields.title, fields.body] };
    fields.into_iter().map(move |field| boosted(phrase(field, &terms), IN_ORDER))
}

fn any_of(field: Field, values: &[String]) -> Option<Box<dyn Query>> {
    let terms: Vec<Box<dyn Query>> = values.iter().map(|value| word(field, value)).collect();
    // A filter says yes or no: it must not add to the score.
    (!terms.is_empty())
        .then(|| Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(terms)), 0.0)) as _)
}

fn word(field: Field, term: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::WithFreqs))
}

fn phrase(field: Field, terms: &[String]) -> Box<dyn Query> {
    Box::new(PhraseQuery::new(
        terms.iter().map(|term| Term::from_field_text(field, term)).collect(),
    ))
}

fn beginning(field: Field, letter: &str) -> Box<dyn Query> {
    Box::new(FuzzyTermQuery::new_prefix(Term::from_field_text(field, letter), 0, false))
}

fn boosted(query: Box<dyn Query>, boost: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, boost))
}
