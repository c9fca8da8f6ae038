"""What was measured and found: the records that every report, JSON file and verdict is made of."""
