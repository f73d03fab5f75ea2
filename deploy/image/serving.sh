#!/bin/bash
# The health check of the image: whether the program of this container answers something (/serving of its operations
# port). Not /ready: what takes unhealthy containers out, or starts them again, would do it for an engine that is away. A
# shell, because starting Node each time would cost more than some of the programs do when idle.
exec 3<>"/dev/tcp/127.0.0.1/$PM_OPS_PORT" || exit 1
printf 'GET /serving HTTP/1.0\r\n\r\n' >&3
read -r -t 4 status <&3 || exit 1
head -c 2000 <&3 | tail -n 1
[[ $status == *' 200 '* ]]
