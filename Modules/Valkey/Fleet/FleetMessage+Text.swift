#if SwiftOperationValkey
  internal import OperationFleet

  extension FleetMessage {
    /// Reads the text of a message: `i` and an epoch, `s`, a revision, a space and a key, or `r` and a key.
    init?(text: String) {
      let rest = text.dropFirst()
      switch text.first {
      case "i":
        guard let epoch = Int64(rest) else { return nil }
        self = .invalidated(FleetEpoch(rawValue: epoch))
      case "s":
        guard let space = rest.firstIndex(of: " "), let revision = Int64(rest[..<space]) else { return nil }
        self = .stored(key: String(rest[rest.index(after: space)...]), revision: revision)
      case "r": self = .released(key: String(rest))
      default: return nil
      }
    }
  }
#endif
