import FoundationEssentials
import OperationCore
import OperationPersistence

enum KeyColor: String, Sendable { case red, blue }

enum KeyShape: Codable, Hashable, Sendable {
  case cycle(radius: Double)
  case named(String)
}

struct KeyPoint: Codable, Hashable, Sendable {
  var x: Double
  var y: Double
  var label: String?
  var tags: Set<String> = []
}

struct KeyID: RawRepresentable, Hashable, Sendable {
  let rawValue: Int
}

/// Equal without regard to case.
struct KeyAddress: Hashable, Sendable, StorageKeyConvertible {
  let text: String

  var storageKey: OperationPath { [self.text.lowercased()] }

  static func == (a: Self, b: Self) -> Bool { a.text.lowercased() == b.text.lowercased() }
  func hash(into hasher: inout Hasher) { hasher.combine(self.text.lowercased()) }
}

/// Hides a part from its encoded form.
struct KeyForgetful: Codable, Hashable, Sendable {
  let kept: Int
  var hidden = 0

  private enum CodingKeys: CodingKey { case kept }

  init(kept: Int, hidden: Int = 0) {
    self.kept = kept
    self.hidden = hidden
  }
}

struct KeyBox<Value: Hashable & Sendable & Codable>: Codable, Hashable, Sendable {
  let value: Value
}

struct KeyPlain: Hashable, Sendable {
  let number: Int
}

final class KeyObject: Hashable, Sendable {
  static func == (a: KeyObject, b: KeyObject) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Private, so its name needs help.
private struct KeyHidden: Hashable, Sendable, StorageKeyConvertible {
  static let storageKeyName = "hidden"
  let number: Int
  var storageKey: OperationPath { [self.number] }
}

extension UUID {
  static let first = Self(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  static let second = Self(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17))
}

private func url(_ text: String, _ base: String? = nil) -> URL {
  URL(string: text, relativeTo: base.flatMap { URL(string: $0) }) ?? URL(filePath: "/")
}

/// Values of every kind that has keys: some equal, most of them nearly so.
let keyElements: [any Hashable & Sendable] = [
  "", "1", "a", "a/", "a=b", "a,b", "(a,)", "%61", "\u{E9}", "e\u{301}", "\u{1E9B}\u{323}", "\u{17F}\u{323}\u{307}",
  "a"[...], "1"[...], "\u{E9}"[...], "e\u{301}"[...], Character("a"), Character("\u{E9}"), Character("e\u{301}"),
  "a" as Unicode.Scalar, 0, 1, -1, 10, Int.min, Int.max, Int8(1), UInt8(1), Int16(1), UInt16(1), Int32(1), UInt32(1),
  Int64(1), UInt64(1), UInt64.max, UInt(1), Int128(1), UInt128.max, 0.0, -0.0, 1.0, -1.0, 0.1, Double.nan,
  -Double.nan, Double.infinity, Double.leastNonzeroMagnitude, Float(0.1), Float(-0.0), Float(0), Float(1), true, false,
  UUID.first, UUID.second, Date(timeIntervalSinceReferenceDate: 1.25), Date(timeIntervalSinceReferenceDate: 1.5),
  Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -0.0), Data([1, 2]), Data([2, 1]),
  Data([0, 1, 2])[1...], Data(), Duration.seconds(1), Duration.milliseconds(1), Duration.zero,
  Decimal(1), Decimal(sign: .plus, exponent: -2, significand: 100),
  Decimal(sign: .plus, exponent: -2, significand: 101),
  url("https://a.org/b"), url("b", "https://a.org/"), url("b", "https://b.org/"), url("b"),
  Int?.none, Int?.some(0), Int??.some(nil), Int??.none, Int??.some(.some(0)), String?.none, String?.some(""),
  String?.some("\u{E9}"), String?.some("e\u{301}"), [Int](), [1], [1, 2], [1, 1], [[1], [2]], [[1, 2]], [[Int]](),
  [""], [String](), ["", ""], ["a", "b"], ["b", "a"], ["a,b"], ["\u{E9}"], ["e\u{301}"], [0.0], [-0.0], [Int8(1)],
  Set(["a", "b", "c"]), Set(["c", "b", "a"]), Set(["a"]), Set<String>(), Set([1, 2, 3]), Set([Set([1, 2]), Set([3])]),
  ["a": 1, "b": 2], ["b": 2, "a": 1], ["a": 2, "b": 1], [String: Int](), ["a": [1]], ["\u{E9}": 1], ["e\u{301}": 1],
  ContiguousArray([1]), [1, 2][1...], [2][...], 1..<2, 1...2, 0..<2,
  KeyColor.red, KeyColor.blue, KeyID(rawValue: 1), KeyID(rawValue: 2), KeyShape.cycle(radius: 1), KeyShape.named("1"),
  KeyShape.named("\u{E9}"), KeyShape.named("e\u{301}"), KeyPoint(x: 0, y: 1), KeyPoint(x: -0.0, y: 1),
  KeyPoint(x: 1, y: 0), KeyPoint(x: 1, y: 0, label: "e\u{301}"), KeyPoint(x: 1, y: 0, label: "\u{E9}"),
  KeyPoint(x: 1, y: 0, label: ""), KeyPoint(x: 0, y: 0, tags: ["a", "b", "c", "d"]),
  KeyPoint(x: 0, y: 0, tags: ["d", "c", "b", "a"]), KeyPoint(x: 0, y: 0, tags: ["a,b"]), KeyAddress(text: "A@b"),
  KeyAddress(text: "a@B"), KeyAddress(text: "a@c"), KeyForgetful(kept: 1), KeyForgetful(kept: 2), KeyBox(value: 1),
  KeyBox(value: "1"), KeyBox(value: Int8(1)), KeyBox(value: KeyPoint(x: 0, y: 0)), KeyHidden(number: 1),
  KeyHidden(number: 2), [KeyHidden(number: 1)], [KeyPoint(x: 0, y: 1)], [KeyPoint(x: -0.0, y: 1)], [KeyID(rawValue: 1)],
  ["a", 1] as OperationPath, ["a", "1"] as OperationPath, [] as OperationPath, [["a"] as OperationPath],
  [OperationPath.Element("a")], Optional(OperationPath.Element("a")),
]
