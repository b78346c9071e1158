"""From files to a published table: plan, chunks, load, append."""
