//! The addresses that belong to the public internet.
//!
//! The ranges come from the registries of IANA for
//! [IPv4](https://www.iana.org/assignments/iana-ipv4-special-registry) and
//! [IPv6](https://www.iana.org/assignments/iana-ipv6-special-registry). An address that is not surely public is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Refused ranges: the first address, and the number of its bits that count.
const REFUSED_V4: [(Ipv4Addr, u32); 16] = [
    // This network; on many systems the machine itself.
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared by the customers of a provider; Alibaba's metadata are at 100.100.100.200.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // A public address at which the machines of Azure find their host.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Link-local, with the metadata of most clouds at 169.254.169.254.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments; Oracle's metadata are at 192.0.0.192.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // The relays of 6to4, which no longer exist.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Measurements of devices.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Documentation.
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, with the broadcast address.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The same within `2000::/3`. Everything outside of it is refused, apart from NAT64.
const REFUSED_V6: [(Ipv6Addr, u32); 3] = [
    // Protocol assignments: Teredo, measurements, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !REFUSED_V4.iter().any(|(first, bits)| (address.to_bits() ^ first.to_bits()) >> (32 - bits) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, high, low, ..] = address.segments();
    let [.., last_high, last_low] = address.segments();
    // NAT64 and 6to4 lead to the IPv4 address that is in them.
    if is_in(address, Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96) {
        return is_public_v4(joined(last_high, last_low));
    }
    if first == 0x2002 {
        return is_public_v4(joined(high, low));
    }
    let is_global = is_in(address, Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
    is_global && !REFUSED_V6.iter().any(|(first, bits)| is_in(address, *first, *bits))
}

fn is_in(address: Ipv6Addr, first: Ipv6Addr, bits: u32) -> bool {
    (address.to_bits() ^ first.to_bits()) >> (128 - bits) == 0
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and last address of each range in the registries, and addresses that lead to one.
    const REFUSED: &str = "
        0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255
        127.0.0.1 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0
        172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.255
        192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0
        203.0.113.255 224.0.0.0 233.252.0.7 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 ::
        ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:169.254.169.254
        ::ffff:0:8.8.8.8 64:ff9b::10.0.0.1 64:ff9b::127.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::
        64:ff9b:1::8.8.8.8 64:ff9b:0:0:1::8.8.8.8 100:: 100::ffff:ffff:ffff:ffff 100:0:0:1:: 2001::
        2001::1 2001:0:4136:e378:: 2001:2:: 2001:10:: 2001:20:: 2001:1ff:ffff:: 2001:db8::
        2001:db8:ffff::1 2002:0a00:0001:: 2002:7f00:0001::1 2002:a9fe:a9fe:: 2002:c0a8:0101::1 3fff::
        3fff:fff:ffff:: 4000:: 5f00:: fc00:: fd00:ec2::254 fdff:ffff:: fe80::1 febf:ffff:: fec0:: ff00::
        ff02::1 ffff::
    ";

    /// The addresses beside them.
    const PUBLIC: &str = "
        1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
        168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
        191.255.255.255 192.0.1.0 192.0.3.0 192.31.196.1 192.52.193.1 192.88.98.255 192.88.100.0
        192.167.255.255 192.169.0.0 192.175.48.1 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0
        203.0.112.255 203.0.114.0 223.255.255.255 64:ff9b::8.8.8.8 2000:: 2001:200::
        2001:4860:4860::8888 2001:db7:ffff:: 2001:db9:: 2002:0808:0808::1 2003:: 2606:4700:4700::1111
        2620:4f:8000:: 2a00:1450:4001::1 3ffe:ffff:: 3fff:1000::
    ";

    #[test]
    fn w1_only_addresses_of_the_public_internet_are_public() {
        for (list, expected) in [(REFUSED, false), (PUBLIC, true)] {
            for address in list.split_whitespace() {
                assert_eq!(is_public(address.parse().expect(address)), expected, "{address}");
            }
        }
    }
}
