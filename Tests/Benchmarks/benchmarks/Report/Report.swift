internal import Foundation

/// All measurements, and the machine.
struct Report: Codable, Sendable {
  var date: Date
  var toolchain: String
  var machine: Machine
  var isShort: Bool
  /// Nanoseconds of 1 A.
  var baseline: Distribution
  var rows: [Row]
}

extension Report {
  /// The rows that miss their limits.
  var misses: [Row] { self.rows.filter { $0.isMet == false } }

  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    return try encoder.encode(self)
  }
}
