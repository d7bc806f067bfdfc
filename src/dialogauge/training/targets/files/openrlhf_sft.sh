#!/bin/sh
# In this folder: sh $script$argument
exec deepspeed --module openrlhf.cli.train_sft \
  --model.model_name_or_path $policy \
  --data.dataset $file --data.input_key messages --data.multiturn --data.apply_chat_template \
  --data.max_len 8192 \
  --train.max_epochs 1 --train.batch_size 64 --train.micro_batch_size 1 \
  --adam.lr 1e-5 --lr_warmup_ratio 0.1 \
  --ds.zero_stage 3 --model.gradient_checkpointing_enable \
  --ckpt.output_dir $tuned
