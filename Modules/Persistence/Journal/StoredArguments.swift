/// Stores the arguments of a journaled mutation, and reads them in later versions of the program.
struct StoredArguments<Arguments: Codable & Sendable>: Sendable {
  var version = 1
  var coder: any StorageCoder = .json
  /// Decodes arguments of an earlier version; nil if there is none.
  var migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> Arguments)?

  func encode(_ arguments: Arguments) throws -> StoredBytes { StoredBytes(try self.coder.encode(arguments)) }

  /// Decodes the arguments of a call.
  ///
  /// - Throws: An ``UnreadableArguments``, or the error of the coder or of the migration.
  func decode(_ record: JournalRecord) throws -> Arguments {
    let found = record.version ?? 1
    if found == self.version { return try self.coder.decode(Arguments.self, from: record.storedArguments.bytes) }
    guard found < self.version, let migrate else { throw UnreadableArguments(found: found, expected: self.version) }
    return try migrate(record.storedArguments.bytes, found)
  }
}

/// The error of arguments of another version.
struct UnreadableArguments: Error, CustomStringConvertible {
  let found: Int
  let expected: Int

  var description: String {
    "they have the version \(self.found), the mutation has \(self.expected), and nothing migrates them"
  }
}
