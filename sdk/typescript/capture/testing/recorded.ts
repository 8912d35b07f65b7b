/** Output of real machines. */

/** An H200 with driver 580.159.04, as `nvidia-smi` prints it for our two queries. */
export const H200_SAMPLE = "0, 0, 0, 143771, 36, 122.61\n";
/** The same card just after a load of 700 W. */
export const H200_BUSY_SAMPLE = "0, 12, 0, 143771, 49, 612.23\n";
export const H200_MODEL = "0, NVIDIA H200, 580.159.04, 143771\n";
/** There, for `--query-gpu=index,fan.speed,mig.mode.current,utilization.encoder`: a card without a fan. */
export const H200_NOT_THERE = "0, [N/A], Disabled, 0\n";
/** There, for a field it does not know (exit code 2) and a card it does not have (exit code 6). */
export const NO_SUCH_FIELD = 'Field "nonsense" is not a valid field to query.\n\n';
export const NO_SUCH_GPU = "No devices were found\n";

/** `/proc/diskstats` there, a virtual machine. */
export const DISKSTATS = `   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 2824 770 1333066 1868 37 0 504 3 0 896 1872 7 0 288 0 7 0
 254      16 vdb 2309 1 249860 364 0 0 0 0 0 68 364 0 0 0 0 0 0
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
`;

/** `/proc/net/dev` there. */
export const NET_DEV = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    6079      69    0    0    0     0          0         0     6079      69    0    0    0     0       0          0
  ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  ifb1:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  eth0:     625      10    0    0    0     0          0         0     1473      18    0    0    0     0       0          0
`;

/** The beginning of `/proc/meminfo` there. */
export const MEMINFO = `MemTotal:       131980916 kB
MemFree:        130662736 kB
MemAvailable:   131442932 kB
Buffers:           36852 kB
SwapTotal:             0 kB
`;
