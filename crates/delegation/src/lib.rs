//! Here is a subnet: who shall crawl it.
