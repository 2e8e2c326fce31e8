import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// The default coder looks for the members of a stored value itself. It has to decode and refuse what a JSON decoder does.
@Suite(.bounded, .warningsAreIssues) struct StoredValueMembersTests {
  @Test(arguments: 0..<ModelRuns.count(10, parts: 100))
  func `Random values are decoded by their members as by a decoder`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<25 {
      let value = Self.random(&generator)
      let bytes = try StorageCoding.encode(value)
      let decoded = try #require(StoredValue<Tree>(fromMembersIn: bytes), "\(String(decoding: bytes, as: UTF8.self))")
      expect(Facts(decoded), equals: Facts(value))
      expect(Facts(decoded), equals: Facts(try StorageCoding.decode(StoredValue<Tree>.self, from: bytes)))
    }
  }

  @Test(arguments: 0..<ModelRuns.count(10, parts: 100))
  func `Changed bytes are refused if a decoder refuses them`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let bytes = try StorageCoding.encode(Self.random(&generator))
    for _ in 0..<300 {
      var changed = bytes
      for _ in 0...Int.random(in: 0..<2, using: &generator) {
        let place = Int.random(in: 0..<changed.count, using: &generator)
        let byte = Self.telling.randomElement(using: &generator) ?? .random(in: 0...255, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: changed[place] = .random(in: 0...255, using: &generator)
        case 1: changed[place] = byte
        case 2: changed.insert(byte, at: place)
        default: changed.remove(at: place)
        }
      }
      let expected = try? StorageCoding.decode(StoredValue<Tree>.self, from: changed)
      let decoded = try? JSONStorageCoder().decode(StoredValue<Tree>.self, from: changed)
      expect(decoded.map(Facts.init), equals: expected.map(Facts.init), "\(changed)")
    }
  }

  @Test(arguments: [
    #"{"hasValue":true,"value":null,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}"#,
    #"{"value":7,"hasValue":true,"valueUpdateCount":999999999999999999,"valueLastUpdatedAt":-0.5,"errorUpdateCount":2,"errorLastUpdatedAt":1.25}"#,
  ])
  func `The members may have any order`(text: String) throws {
    let decoded = try #require(StoredValue<Int?>(fromMembersIn: Array(text.utf8)))
    let expected = try StorageCoding.decode(StoredValue<Int?>.self, from: text.utf8)
    expect(decoded.value, equals: expected.value)
    expect(decoded.valueUpdateCount, equals: expected.valueUpdateCount)
    expect(decoded.valueLastUpdatedAt, equals: expected.valueLastUpdatedAt)
    expect(decoded.errorUpdateCount, equals: expected.errorUpdateCount)
    expect(decoded.errorLastUpdatedAt, equals: expected.errorLastUpdatedAt)
  }

  @Test(arguments: [
    // No value, blanks, an exponent, a member twice, an unknown one, one that is missing, an escaped name, a rest.
    #"{"hasValue":false,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}"#,
    #"{ "value":7,"hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}"#,
    #"{"value":7,"hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":1e9,"errorUpdateCount":0}"#,
    #"{"value":7,"value":8,"hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}"#,
    #"{"value":7,"hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0,"more":1}"#,
    #"{"value":7,"hasValue":true,"valueUpdateCount":1,"errorUpdateCount":0}"#,
    #"{"v\u0061lue":7,"hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}"#,
    #"{"value":7,"hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}}"#,
    #"{"value":"7","hasValue":true,"valueUpdateCount":1,"valueLastUpdatedAt":0,"errorUpdateCount":0}"#,
  ])
  func `What the encoder does not write is left to the decoder`(text: String) {
    #expect(StoredValue<Int>(fromMembersIn: Array(text.utf8)) == nil)
    let expected = Result { try StorageCoding.decode(StoredValue<Int>.self, from: text.utf8) }
    let decoded = Result { try JSONStorageCoder().decode(StoredValue<Int>.self, from: Array(text.utf8)) }
    expect("\(decoded)", equals: "\(expected)")
  }

  /// Bytes that mean something in JSON, in numbers, or for the encoding of a text.
  private static let telling = Array(#"{}[],:"\ .-0189e+"#.utf8) + [0, 9, 0x7F, 0xC3, 0xEF, 0xFF]

  private static func random(_ generator: inout SeededGenerator) -> StoredValue<Tree> {
    func date() -> Date {
      Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &generator))
    }
    let hasFailed = Bool.random(using: &generator)
    return StoredValue(
      value: Tree.random(&generator, depth: 3),
      valueUpdateCount: .random(in: 1...1_000_000, using: &generator),
      valueLastUpdatedAt: Bool.random(using: &generator) ? date() : Date(timeIntervalSinceReferenceDate: 7e8),
      errorUpdateCount: hasFailed ? 3 : 0,
      errorLastUpdatedAt: hasFailed ? date() : nil
    )
  }

  private struct Facts: Equatable {
    let value: Tree?
    let counts: [Int]
    let dates: [Date?]

    init(_ stored: StoredValue<Tree>) {
      self.value = stored.value
      self.counts = [stored.valueUpdateCount, stored.errorUpdateCount]
      self.dates = [stored.valueLastUpdatedAt, stored.errorLastUpdatedAt]
    }
  }

  private struct Tree: Codable, Hashable, Sendable {
    var text: String
    var number: Double
    var isTrue: Bool
    var date: Date?
    var data: Data
    var names: [String: Int?]
    var children: [Tree]

    static func random(_ generator: inout SeededGenerator, depth: Int) -> Tree {
      func text() -> String {
        let parts = ["a", "\"", "\\", "{", "}", "[", "]", ",", ":", "\n", "\u{0}", "é", "🧵", "value", " ", "/"]
        let count = Int.random(in: 0..<8, using: &generator)
        return (0..<count).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
      }
      var names: [String: Int?] = ["value": nil]
      names[text()] = 1
      let childCount = depth == 0 ? 0 : Int.random(in: 0..<3, using: &generator)
      return Tree(
        text: text(),
        number: .random(in: -1e12...1e12, using: &generator),
        isTrue: .random(using: &generator),
        date: Bool.random(using: &generator) ? Date(timeIntervalSinceReferenceDate: 1e8) : nil,
        data: Data((0..<Int.random(in: 0..<5, using: &generator)).map(UInt8.init)),
        names: names,
        children: (0..<childCount).map { _ in self.random(&generator, depth: depth - 1) }
      )
    }
  }
}
