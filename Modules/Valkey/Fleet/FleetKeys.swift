#if SwiftOperationValkey
  /// The names of the keys of a fleet, and of its channel.
  struct FleetKeys: Sendable {
    let prefix: String
    let clock: String
    /// Which node has invalidated which subject last.
    let names: String
    let channel: String

    /// - Parameters:
    ///   - prefix: What all names begin with.
    ///   - database: The number of the database, which channels do not belong to.
    /// - Throws: A ``ValkeyError`` if the prefix cannot be used.
    init(prefix: String, database: Int) throws(ValkeyError) {
      guard (1...200).contains(prefix.utf8.count), prefix.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw ValkeyError(
          code: .invalidConnection,
          message:
            "The prefix \(prefix.debugDescription) is not of 1 to 200 visible ASCII characters. Pass one that is."
        )
      }
      self.prefix = prefix
      self.clock = "\(prefix):clock"
      self.names = "\(prefix):nodes"
      self.channel = "\(prefix):messages:\(database)"
    }

    func lease(_ key: String) -> String { "\(self.prefix):lease:\(key)" }

    func value(_ key: String) -> String { "\(self.prefix):value:\(key)" }
  }
#endif
