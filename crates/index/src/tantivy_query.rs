//! Translation of a query for tantivy, with the ranking.
//!
//! Each term scores by its best field (BM25): title three times, headings twice, text once, words
//! of the URL, and stems at a discount, so that the exact form of a word wins. A page must contain
//! all of up to three terms, and three quarters of more; likewise of the bigrams of a sentence in
//! an unspaced script. Words in the order of the query raise the score further.

use std::collections::BTreeSet;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, FuzzyTermQuery,
    Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::hidden::HiddenPages;
use crate::query::{PhraseTerm, Query as ParsedQuery, QueryTerm};
use crate::schema::Fields;

const TITLE_BOOST: f32 = 3.0;
const HEADINGS_BOOST: f32 = 2.0;
const URL_BOOST: f32 = 1.2;
const STEM_BOOST: f32 = 0.6;
const IN_ORDER_BOOST: f32 = 1.5;
/// Share of the scores of the other fields that is added to that of the best field.
const TIE_BREAKER: f32 = 0.2;

type Clause = (Occur, Box<dyn Query>);

/// The query for tantivy, which matches no hidden page. `query` must not be empty.
pub(crate) fn tantivy_query(
    query: &ParsedQuery,
    hidden: &[HiddenPages],
    fields: &Fields,
) -> Box<dyn Query> {
    let mut clauses: Vec<Clause> = Vec::new();
    if query.terms.is_empty() {
        // Filters alone select from all pages; a query of exclusions only would match nothing.
        clauses.push((Occur::Must, Box::new(AllQuery)));
    } else {
        let terms = query.terms.iter().map(|term| ranked(term, fields));
        clauses.push((Occur::Must, Box::new(enough_of(terms.collect()))));
        // The score of a single term has its order already.
        if query.terms.len() > 1 {
            clauses.extend(in_order(&query.in_order, fields));
        }
    }
    clauses.extend(query.excluded.iter().map(|term| (Occur::MustNot, contains(term, fields))));
    clauses.extend(any_of(fields.site, &query.sites).map(|query| (Occur::Must, query)));
    clauses.extend(any_of(fields.lang, &query.langs).map(|query| (Occur::Must, query)));
    clauses.extend(any_of(fields.site, &query.excluded_sites).map(|query| (Occur::MustNot, query)));
    clauses.extend(any_of(fields.lang, &query.excluded_langs).map(|query| (Occur::MustNot, query)));
    clauses.extend(hidden.iter().filter_map(|pages| Some((Occur::MustNot, pages.query()?))));
    Box::new(BooleanQuery::new(clauses))
}

fn enough_of(queries: Vec<Box<dyn Query>>) -> BooleanQuery {
    let count = queries.len();
    let needed = if count <= 3 { count } else { (count * 3).div_ceil(4) };
    BooleanQuery::union_with_minimum_required_clauses(queries, needed)
}

/// Matches pages with one term and scores them by the best field.
fn ranked(term: &QueryTerm, fields: &Fields) -> Box<dyn Query> {
    let by_field = match term {
        QueryTerm::Word { term, stems } => {
            let mut by_field = in_text(|field| word(field, term), fields);
            by_field.push(boosted(word(fields.url_words, term), URL_BOOST));
            by_field.extend(stems.iter().map(|stem| boosted(word(fields.stems, stem), STEM_BOOST)));
            by_field
        }
        QueryTerm::Phrase(terms) => in_text(|field| phrase(field, terms), fields),
        QueryTerm::Sentence(terms) => return sentence(terms, fields),
        QueryTerm::Letter(letter) => {
            vec![boosted(prefix(fields.title, letter), TITLE_BOOST), word(fields.letters, letter)]
        }
    };
    best_of(by_field)
}

/// The same query for title, headings and text.
fn in_text(query: impl Fn(Field) -> Box<dyn Query>, fields: &Fields) -> Vec<Box<dyn Query>> {
    vec![
        boosted(query(fields.title), TITLE_BOOST),
        boosted(query(fields.headings), HEADINGS_BOOST),
        query(fields.body),
    ]
}

fn best_of(by_field: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    Box::new(DisjunctionMaxQuery::with_tie_breaker(by_field, TIE_BREAKER))
}

/// Matches pages with most of the bigrams. Pages with the sentence as typed come first.
fn sentence(terms: &[PhraseTerm], fields: &Fields) -> Box<dyn Query> {
    let bigrams: BTreeSet<&str> = terms.iter().map(|term| term.term.as_str()).collect();
    let bigram = |term| best_of(in_text(|field| word(field, term), fields));
    let most: Box<dyn Query> = Box::new(enough_of(bigrams.into_iter().map(bigram).collect()));
    let clauses = std::iter::once((Occur::Must, most)).chain(in_order(terms, fields));
    Box::new(BooleanQuery::new(clauses.collect()))
}

/// Matches pages with an excluded term as typed. Pages with other forms of the word stay.
fn contains(term: &QueryTerm, fields: &Fields) -> Box<dyn Query> {
    let in_field = |field| match term {
        QueryTerm::Word { term, .. } | QueryTerm::Letter(term) => word(field, term),
        QueryTerm::Phrase(terms) | QueryTerm::Sentence(terms) => phrase(field, terms),
    };
    let fields = match term {
        QueryTerm::Letter(_) => vec![fields.letters],
        _ => vec![fields.title, fields.body],
    };
    Box::new(BooleanQuery::union(fields.into_iter().map(in_field).collect()))
}

/// Clauses that raise the score of pages with the terms one after the other.
fn in_order(terms: &[PhraseTerm], fields: &Fields) -> impl Iterator<Item = Clause> {
    let fields = if terms.len() < 2 { vec![] } else { vec![fields.title, fields.body] };
    let phrases = fields.into_iter().map(|field| boosted(phrase(field, terms), IN_ORDER_BOOST));
    phrases.map(|phrase| (Occur::Should, phrase))
}

fn any_of(field: Field, values: &[String]) -> Option<Box<dyn Query>> {
    let terms: Vec<Box<dyn Query>> = values.iter().map(|value| word(field, value)).collect();
    // A filter only selects: it must not add to the score.
    (!terms.is_empty())
        .then(|| Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(terms)), 0.0)) as _)
}

fn word(field: Field, term: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::WithFreqs))
}

/// Matches a letter of an unspaced script in a short text: it begins a bigram, or is the last one.
fn prefix(field: Field, letter: &str) -> Box<dyn Query> {
    Box::new(FuzzyTermQuery::new_prefix(Term::from_field_text(field, letter), 0, false))
}

fn phrase(field: Field, terms: &[PhraseTerm]) -> Box<dyn Query> {
    let terms = terms.iter();
    let terms = terms.map(|term| (term.position, Term::from_field_text(field, &term.term)));
    Box::new(PhraseQuery::new_with_offset(terms.collect()))
}

fn boosted(query: Box<dyn Query>, boost: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, boost))
}
