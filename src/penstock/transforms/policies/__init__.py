"""Policies: transforms that choose among many ops at random, for each image anew.

| file | holds |
|---|---|
| ops.py | what a single op does to an image, given an argument such as degrees or a factor |
| spaces.py | the lists of ops that policies choose from, and what a level means for each |
| rand_augment.py | RandAugment, TrivialAugmentWide and AugMix |
| auto_augment.py | AutoAugment, with its learnt tables |
| timm.py | RandAugment and AutoAugment as timm has them |
| population.py | PopulationBasedAugment, and the schedules it reads |
"""
