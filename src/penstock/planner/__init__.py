"""From what the user wrote to what will be done."""
