"""DAME beside what people would use instead: accuracy, speed and footprint, as ratios in one run on one machine."""
