#if SwiftOperationValkey
  /// What a server says, in the second or third version of its protocol (RESP).
  enum Reply: Hashable, Sendable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    case error(String)
    /// An array, a set, or the keys and values of a map in turn.
    case array([Reply])
    /// What was not asked for: a message.
    case push([Reply])
  }

  extension Reply {
    var integer: Int64? {
      if case .integer(let number) = self { number } else { nil }
    }

    var bytes: [UInt8]? {
      if case .bytes(let bytes) = self { bytes } else { nil }
    }

    var text: String? { self.bytes.map { String(decoding: $0, as: UTF8.self) } }

    var array: [Reply]? {
      if case .array(let elements) = self { elements } else { nil }
    }

    /// The value of a key, of a map.
    subscript(_ key: String) -> Reply? {
      guard let elements = self.array, let place = elements.firstIndex(where: { $0.text == key }) else { return nil }
      return place + 1 < elements.count ? elements[place + 1] : nil
    }
  }
#endif
