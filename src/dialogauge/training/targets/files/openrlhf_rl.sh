#!/bin/sh
# In this folder: sh $script$argument
# Equation 7: groups of 8 sessions, and the mean over a session's character tokens first.
exec python -m openrlhf.cli.train_ppo_ray \
  --actor.model_name_or_path $policy \
  --data.prompt_dataset $file --data.input_key prompt --data.label_key label --data.apply_chat_template \
  --train.agent_func_path $agent \
  --data.max_len $fits --rollout.n_samples_per_prompt 8 --rollout.batch_size 64 \
  --train.num_episodes 2 --train.batch_size 512 --train.micro_batch_size 1 \
  --algo.advantage.estimator group_norm --actor.loss_agg_mode seq-mean-token-mean --actor.eps_clip 0.2 \
  --algo.kl.use_loss --algo.kl.estimator k3 --algo.kl.init_coef 0.02 \
  --actor.adam.lr 1e-6 --actor.lr_warmup_ratio 0.1 \
  --ds.zero_stage 3 --actor.gradient_checkpointing_enable \
  --vllm.num_engines 8 --vllm.gpu_memory_utilization 0.5 --vllm.enable_sleep --ds.enable_sleep \
  --train.colocate_all \
  --ckpt.output_dir $tuned
