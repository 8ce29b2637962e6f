"""The report: one site of plain files that opens without a network."""
