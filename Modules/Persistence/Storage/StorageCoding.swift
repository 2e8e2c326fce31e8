internal import OperationFoundation

/// Encodes and decodes values as JSON, which people can read, and later versions of a type with new optional members.
package enum StorageCoding {
  // Shared, because making an encoder takes as long as encoding a small value.
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf",
      negativeInfinity: "-inf",
      nan: "nan"
    )
    return encoder
  }()

  private static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf",
      negativeInfinity: "-inf",
      nan: "nan"
    )
    return decoder
  }()

  package static func encode(_ value: some Encodable) throws -> [UInt8] {
    Array(try self.encoder.encode(value))
  }

  package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) throws -> Value {
    // Data makes a copy of bytes that lie beside each other, and looks up what another sequence is.
    let data = bytes.withContiguousStorageIfAvailable { Data(buffer: $0) } ?? Data(bytes)
    return try self.decoder.decode(type, from: data)
  }
}
