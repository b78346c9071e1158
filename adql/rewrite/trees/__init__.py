"""What several passes share: readers and editors of join trees, derived tables, repeatable relations. No passes."""
