//! What cannot be seen through the door: crashes, failing disks, and what is written where.
