//! Here is an address: its subnet, ancestors, siblings, company.
