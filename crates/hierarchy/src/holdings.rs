//! Which subnets each company holds, as one list cut by offsets.

use crate::columns::Holder;
use crate::id::{CompanyId, SubnetId};

#[derive(Debug, Clone, Default)]
pub(crate) struct Holdings {
    /// One more than there are companies: the subnets of company *c* are
    /// `subnets[offsets[c]..offsets[c + 1]]`.
    offsets: Vec<u32>,
    subnets: Vec<SubnetId>,
}

impl Holdings {
    /// A counting sort of the subnets by company, so that each company's subnets stay in ascending
    /// order.
    pub(crate) fn new(holders: &[Holder], companies: usize) -> Self {
        let held =
            || holders.iter().enumerate().filter_map(|(id, holder)| Some((id, holder.company()?)));
        let mut offsets = vec![0_u32; companies + 1];
        for (_, company) in held() {
            offsets[company.index() + 1] += 1;
        }
        for place in 1..offsets.len() {
            offsets[place] += offsets[place - 1];
        }
        let mut next = offsets.clone();
        let mut subnets = vec![SubnetId::new(0); offsets.last().map_or(0, |total| *total as usize)];
        for (subnet, company) in held() {
            let place = &mut next[company.index()];
            subnets[*place as usize] = SubnetId::new(subnet as u32);
            *place += 1;
        }
        Self { offsets, subnets }
    }

    pub(crate) fn of(&self, company: CompanyId) -> &[SubnetId] {
        let start = self.offsets.get(company.index());
        let end = self.offsets.get(company.index() + 1);
        start
            .zip(end)
            .and_then(|(start, end)| self.subnets.get(*start as usize..*end as usize))
            .unwrap_or_default()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>() + self.subnets.capacity() * size_of::<SubnetId>()
    }
}
