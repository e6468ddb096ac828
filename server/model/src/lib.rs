//! Language models.
