#if SwiftOperationPostgreSQL
  /// The type of a parameter, by its number in PostgreSQL's table of types.
  enum QueryType: UInt32, Sendable {
    case boolean = 16
    case bytes = 17
    case integer = 20
    case text = 25
    case byteArray = 1001
    case integerArray = 1016
  }

  /// A parameter of a statement, which is sent in PostgreSQL's binary format.
  enum QueryValue: Sendable {
    case null
    case boolean(Bool)
    case bytes([UInt8])
    case integer(Int64)
    case text(String)
    case byteArray([[UInt8]])
    case integerArray([Int64])

    /// The bytes to send; nil for null.
    var encoded: [UInt8]? {
      switch self {
      case .null: nil
      case .boolean(let value): [value ? 1 : 0]
      case .bytes(let bytes): bytes
      case .integer(let number): Self.bytes(of: number)
      case .text(let text): Array(text.utf8)
      case .byteArray(let values): Self.array(values, of: .bytes)
      case .integerArray(let numbers): Self.array(numbers.map(Self.bytes(of:)), of: .integer)
      }
    }

    /// The format of `array_recv`: the number of dimensions, whether there are nulls, the type, the size and the first
    /// index of the dimension, and then each element after its length.
    private static func array(_ elements: [[UInt8]], of type: QueryType) -> [UInt8] {
      var result: [UInt8] = []
      result.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + $1.count })
      result += Self.bytes(of: Int32(elements.isEmpty ? 0 : 1)) + Self.bytes(of: Int32(0))
      result += Self.bytes(of: Int32(bitPattern: type.rawValue))
      if elements.isEmpty { return result }
      result += Self.bytes(of: Int32(clamping: elements.count)) + Self.bytes(of: Int32(1))
      for element in elements {
        result += Self.bytes(of: Int32(clamping: element.count))
        result += element
      }
      return result
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
  }
#endif
