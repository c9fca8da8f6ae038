"""What an input pipeline costs, why, and what would change it.

From outside, on any loop or script:

| file | does |
|---|---|
| watch.py, step_times.py, live_line.py | `penstock.watch`: a loader with a clock |
| found_loaders.py, script_end.py | `penstock run`, which starts in cli/run.py |
| watch_inside.py, shared_cores.py | shares of a loader's time; who takes the cores |
| watch_verdict.py, watch_report.py, loader_facts.py | the cause, and how it is said |

`penstock.analyze`, in the order in which it works:

| file | does |
|---|---|
| analyze.py | calls all of what follows |
| choose_device.py, budget.py | the accelerator meant; a first look, and what fits into the time |
| subject.py, torch_subject.py, penstock_subject.py | the loader, made anew with something changed |
| devices.py, torch_device.py | the accelerator, emulated or real |
| rates.py, measure.py, runs.py | rates, and the model fitted to them |
| cores.py, library_threads.py, other_work.py | keeping to some of the cores; who else uses them |
| costs.py, torch_costs.py, penstock_costs.py, timed_op.py | what an image costs, op by op |
| thread_clock.py, interpreter.py | computing, waiting, and holding Python's lock, told apart |
| cold.py, utilisation.py, nvml.py, slow_files.py | first epochs, busy devices, slow files |
| facts.py, gather_facts.py, verdict.py | one sentence, and what it rests on |
| predict.py, predict_checked.py | the model, fitted, and its errors |
| sweep.py, layers.py, image_size.py, other_*.py, plan_variants.py, like_loader.py | changes tried |
| what_if.py, advice.py, user_code.py | changes thought through, and the line to write |
| results.py, read.py, environment.py | what was found, as records and from JSON |

accelerate/ translates torch DataLoaders, profiling/ times a Dataset or a transform, report/ draws.
"""
