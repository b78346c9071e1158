"""Functions that several passes share: on join trees, derived tables and repeatable relations."""
