import FoundationEssentials
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Entries of a journal are read without a decoder where they look as the library writes them. A blank in front of an entry
/// leaves it to the decoder, which has to say the same of it.
@Suite(.bounded, .warningsAreIssues) struct JournalRecordReaderTests {
  /// All that is known of an entry.
  private struct Facts: Equatable {
    let texts: [String?]
    let numbers: [Int?]
    let dates: [Date?]
    let status: JournalEntry.Status?
    let content: [UInt8]
    let isReadable: Bool

    init(_ bytes: [UInt8]) {
      let facts = StoredEntryFacts(StorageEntry(key: "journal/1-a", value: bytes))
      self.texts = [facts.name, facts.path, facts.id, facts.schedule]
      self.numbers = [facts.version, facts.attempts]
      self.dates = [facts.date, facts.dueAt]
      self.status = facts.status
      // Of an entry that cannot be read these are its bytes, which have the blank.
      self.content = facts.isReadable ? facts.content : []
      self.isReadable = facts.isReadable
    }
  }

  private static let blank = UInt8(ascii: " ")

  private static let texts = [
    "", "plain", #"{\"id\":1,\"text\":\"a \\\"b\\\" \/ c\\n\"}"#, "ümläut", "😀", #"tab\tline\nreturn\r\b\f"#,
    #"\u00e4\u0001"#, #"\ud83d\ude00"#, #"\\\\"#, #"a\/b"#,
  ]

  /// An entry with all members, in any order.
  private static func random(_ generator: inout SeededGenerator) -> String {
    var text: String { "\"\(self.texts.randomElement(using: &generator) ?? "")\"" }
    var members = [
      #""format":1"#, "\"id\":\(text)", "\"name\":\(text)", "\"scope\":\(text)", "\"arguments\":\(text)",
      #""acceptedAt":\#(Double.random(in: -1e6..<1e9, using: &generator))"#,
      #""attempts":\#(Int.random(in: 0..<100, using: &generator))"#,
      #""isSetAside":\#(Bool.random(using: &generator))"#,
    ]
    let others = [
      #""failures":3"#, #""isBegun":true"#, "\"owner\":\(text)", "\"mergeKey\":\(text)", #""expiresAt":60.5"#,
      #""lifetime":60"#, #""argumentBytes":"AAEC""#, #""version":2"#, #""aside":"expired""#, "\"base\":\(text)",
      #""revision":1"#, #""current":"{}""#, #""currentBytes":"AA==""#, #""holdsScope":true"#, #""retriedAt":1e3"#,
      #""letsPass":false"#, #""wasSent":true"#, "\"schedule\":\(text)", #""dueAt":-7.25"#, #""later":{"a":[1,2]}"#,
      #""failures":null"#,
    ]
    members += others.filter { _ in Int.random(in: 0..<4, using: &generator) > 0 }
    members.shuffle(using: &generator)
    return "{\(members.joined(separator: ","))}"
  }

  @Test(arguments: 0..<ModelRuns.count(5, parts: 100))
  func `Entries of any form are read as a decoder reads them`(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var readCount = 0
    for _ in 0..<50 {
      let bytes = Array(Self.random(&generator).utf8)
      let facts = Facts(bytes)
      expect(facts, equals: Facts([Self.blank] + bytes), "\(String(decoding: bytes, as: UTF8.self))")
      readCount += facts.isReadable ? 1 : 0
    }
    #expect(readCount > 20)
  }

  @Test(arguments: 0..<ModelRuns.count(5, parts: 100))
  func `Changed bytes are refused if a decoder refuses them`(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let bytes = Array(Self.random(&generator).utf8)
    let telling = Array(#""\{}[],:.0-e "#.utf8)
    for _ in 0..<300 {
      var changed = bytes
      let place = Int.random(in: 0..<changed.count, using: &generator)
      let byte = telling.randomElement(using: &generator) ?? 0
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: changed[place] = .random(in: 0...255, using: &generator)
      case 1: changed[place] = byte
      case 2: changed.insert(byte, at: place)
      default: changed.remove(at: place)
      }
      expect(Facts(changed), equals: Facts([Self.blank] + changed), "\(String(decoding: changed, as: UTF8.self))")
    }
  }
}
