internal import OperationFoundation

/// The keys of calls whose journal makes them.
enum JournalKey {
  /// A key like `UUID().uuidString`, for which Foundation on Linux opens a file of the system each time.
  static func random() -> String {
    var source = SystemRandomNumberGenerator()
    // The version 4 and the variant of RFC 9562.
    let high = source.next() & ~0xF000 | 0x4000
    let low = source.next() & ~(0b11 << 62) | 0b10 << 62
    // Both are sixteen bytes, in this order.
    return UUID(uuid: unsafeBitCast((high.bigEndian, low.bigEndian), to: uuid_t.self)).uuidString
  }
}
