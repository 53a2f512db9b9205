//! Latency worlds from real matrices.
