import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationPersistence

/// Plain JSON is decoded without a decoder. What comes out has to be what the decoder returns.
@Suite(.bounded, .warningsAreIssues) struct PlainJSONTests {
  @Test(arguments: 0..<ModelRuns.count(10, parts: 100))
  func `Plain values are decoded as by a decoder`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<25 {
      let value = Plain.random(&generator, depth: 3)
      let bytes = try StorageCoding.encode(value)
      let decoded = PlainJSON.decode(Plain.self, from: bytes, in: 0..<bytes.count)
      expect(decoded, equals: value, "\(String(decoding: bytes, as: UTF8.self))")
      expect(decoded, equals: (try StorageCoding.decode(Plain.self, from: bytes)))
    }
  }

  @Test(arguments: 0..<ModelRuns.count(10, parts: 100))
  func `Changed bytes have the value that a decoder finds, or none`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let bytes = try StorageCoding.encode(Plain.random(&generator, depth: 2))
    var count = 0
    for _ in 0..<400 {
      var changed = bytes
      let place = Int.random(in: 0..<changed.count, using: &generator)
      let byte = Self.telling.randomElement(using: &generator) ?? .random(in: 0...255, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: changed[place] = .random(in: 0...255, using: &generator)
      case 1: changed[place] = byte
      case 2: changed.insert(byte, at: place)
      default: changed.remove(at: place)
      }
      guard let decoded = PlainJSON.decode(Plain.self, from: changed, in: 0..<changed.count) else { continue }
      count += 1
      expect(decoded, equals: (try? StorageCoding.decode(Plain.self, from: changed)), "\(changed)")
    }
    #expect(count > 0)
  }

  @Test(arguments: [
    // Blanks, an escaped character, an exponent, zeros in front, a rest, no end, a member twice, and numbers that are none.
    #"{"id": 1}"#, #"{"id":1,"text":"\u0061"}"#, #"{"id":1e0}"#, #"{"id":01}"#, #"{"id":1}}"#, #"{"id":1"#,
    #"{"id":1,"id":2}"#, #"{"id":-}"#, #"{"id":1.}"#, #"{"id":.5}"#, #"{"id":+1}"#, #"{"id":tru}"#, #"{"id":1,}"#,
    #"{"id":1,"more":[1,]}"#, #"{"id":1,"more":truth}"#, #"{"id":9223372036854775808}"#, #"{"id":"1"}"#, #"{}"#, "",
    "[1]",
  ])
  func `What is not plain has no value`(text: String) {
    expect(PlainJSON.decode(Named.self, from: Array(text.utf8), in: 0..<text.utf8.count), equals: nil)
  }

  @Test func `A name that only canonical equivalence finds is left to the decoder`() throws {
    let bytes = Array(#"{"K":1}"#.utf8)
    try expect(StorageCoding.decode([String: Int].self, from: bytes), equals: ["K": 1])
    expect(PlainJSON.decode(Kelvin.self, from: bytes, in: 0..<bytes.count), equals: nil)
  }

  @Test(arguments: [#"{"a":1.5}"#, #"{"a":"x"}"#, #"{"a":[1]}"#, #"{"b":1}"#])
  func `A failure that a type catches is left to the decoder`(text: String) throws {
    let bytes = Array(text.utf8)
    expect(PlainJSON.decode(Lenient.self, from: bytes, in: 0..<bytes.count), equals: nil)
    expect(PlainJSON.decode(Lenient.self, from: Array(#"{"a":1}"#.utf8), in: 0..<7)?.number, equals: 1)
  }

  @Test func `A type that asks for its place is left to the decoder`() throws {
    let bytes = Array(#"{"place":[1]}"#.utf8)
    #expect(PlainJSON.decode([String: [Placed]].self, from: bytes, in: 0..<bytes.count) == nil)
    try expect(
      StorageCoding.decode([String: [Placed]].self, from: bytes)["place"]?[0].place,
      equals: ["place", "Index 0"]
    )
  }

  @Test(arguments: [
    "0", "-0", "0.1", "-0.5", "123456.789", "9007199254740991", "9007199254740993",
    "0.3000000000000000444089209850062616", "817906241.12345", "1234567890.12345678", "0.0000000000000001",
    "179769313486231570000000000000000000000",
  ])
  func `Numbers are the nearest ones`(text: String) throws {
    var bytes = Array(text.utf8)
    let number = bytes.withUnsafeMutableBufferPointer { DecimalText.number(UnsafeBufferPointer($0)) }
    expect(number?.bitPattern, equals: Double(text)?.bitPattern)
  }

  @Test(arguments: 0..<ModelRuns.count(10, parts: 100)) func `Random numbers are the nearest ones`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<500 {
      let exponent = Double.random(in: -3...12, using: &generator)
      let expected = Double.random(in: -1...1, using: &generator) * .pow10(exponent)
      var text = Array("\(expected)".utf8)
      guard !text.contains(UInt8(ascii: "e")) else { continue }
      let number = text.withUnsafeMutableBufferPointer { DecimalText.number(UnsafeBufferPointer($0)) }
      expect(number?.bitPattern, equals: expected.bitPattern, "\(expected)")
    }
  }

  @Test func `Deep values and objects with many members are left to the decoder`() throws {
    let deep = Array((String(repeating: "[", count: 40) + String(repeating: "]", count: 40)).utf8)
    #expect(PlainJSON(deep, in: 0..<deep.count) == nil)
    let many = try StorageCoding.encode(Dictionary(uniqueKeysWithValues: (0..<65).map { ("k\($0)", $0) }))
    #expect(PlainJSON(many, in: 0..<many.count) == nil)
    let some = try StorageCoding.encode(Dictionary(uniqueKeysWithValues: (0..<64).map { ("k\($0)", $0) }))
    expect(PlainJSON.decode([String: Int].self, from: some, in: 0..<some.count)?["k63"], equals: 63)
  }

  private static let telling = Array(#"{}[],:"\ .-0189e+tfn"#.utf8) + [0, 9, 0x7F, 0xC3, 0xEF, 0xFF]

  private struct Named: Codable, Equatable {
    var id: Int
    var text: String?
  }

  private struct Kelvin: Decodable, Equatable {
    enum CodingKeys: String, CodingKey { case degrees = "\u{212A}" }
    var degrees: Int?
  }

  /// Does without what cannot be decoded.
  private struct Lenient: Decodable, Equatable {
    enum CodingKeys: String, CodingKey { case a }
    let number: Int?

    init(from decoder: any Decoder) throws {
      self.number = try? decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .a)
    }
  }

  private struct Placed: Decodable {
    let place: [String]

    init(from decoder: any Decoder) throws { self.place = decoder.codingPath.map(\.stringValue) }
  }

  /// Values of all kinds that need no decoder.
  private struct Plain: Codable, Hashable {
    enum Kind: String, Codable { case small, large }
    enum Shape: Codable, Hashable {
      case none
      case circle(radius: Double)
      case label(String, Int8)
    }

    var text: String
    var count: Int
    var unsigned: UInt32
    var share: Double
    var isTrue: Bool
    var missing: Int?
    var date: Date
    var id: UUID
    var kind: Kind
    var shape: Shape
    var counts: [String: Int]
    var tags: Set<String>
    var options: [Int?]
    var children: [Plain]

    static func random(_ generator: inout SeededGenerator, depth: Int) -> Plain {
      let words = ["", "a", "é", "🧵", "{}", "[1,2]", ":", "value", "x, y", "\u{7F}"]
      let shapes = [Shape.none, .circle(radius: .random(in: 0...9, using: &generator)), .label("l", -7)]
      let childCount = depth == 0 ? 0 : Int.random(in: 0..<3, using: &generator)
      return Plain(
        text: words.randomElement(using: &generator) ?? "",
        count: .random(in: -1_000_000_000...1_000_000_000, using: &generator),
        unsigned: .random(in: 0...UInt32.max, using: &generator),
        share: .random(in: -1e9...1e9, using: &generator),
        isTrue: .random(using: &generator),
        missing: Bool.random(using: &generator) ? 5 : nil,
        date: Date(timeIntervalSinceReferenceDate: .random(in: 0...1e9, using: &generator)),
        id: UUID(),
        kind: Bool.random(using: &generator) ? .small : .large,
        shape: shapes.randomElement(using: &generator) ?? .none,
        counts: ["a": 1, "b c": 2],
        tags: Set(words.shuffled(using: &generator).prefix(2)),
        options: [1, nil, 3],
        children: (0..<childCount).map { _ in self.random(&generator, depth: depth - 1) }
      )
    }
  }
}

extension Double {
  /// Ten to the power of a number, near enough.
  fileprivate static func pow10(_ exponent: Double) -> Double {
    var result = 1.0
    for _ in 0..<Int(abs(exponent)) { result *= 10 }
    return exponent < 0 ? 1 / result : result
  }
}
