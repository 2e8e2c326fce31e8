import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationPersistence

@Suite(.bounded, .warningsAreIssues) struct StorageKeyTests {
  @Test func `A path in a key is shown as it was written`() throws {
    let path: OperationPath = ["notes/a", -5, UInt8(7), KeyColor.red]
    let text = try #require(StorageKey.text(of: path))
    expect(StorageKey.readablePath(text), equals: "notes/a/-5/7/rred")
    expect(StorageKey.readablePath(text, withoutSecrets: true), equals: "notes/a/-5/7/KeyColor")
  }

  /// The keys of stored entries, which another process, and a later version, have to find.
  @Test(
    arguments: [
      ([], "value/"),
      (["users", 1], "value/susers/i1/"),
      ([-5, "a b", "\u{E9}"], "value/i-5/sa%20b/s%C3%A9/"),
      (["e\u{301}", "a/=%"], "value/s%C3%A9/sa%2F%3D%25/"),
      (["a"[...], Character("a"), UInt8(7)], "value/tSubstring:a/tCharacter:a/tUInt8:7/"),
      ([true, 1.5, -0.0], "value/tBool:true/tDouble:1023.2251799813685248/tDouble:0.0/"),
      ([UUID.first], "value/tUUID:01020304-0506-0708-090A-0B0C0D0E0F10/"),
      ([Date(timeIntervalSinceReferenceDate: 1.5)], "value/tDate:1023.2251799813685248/"),
      ([Data([1, 0xAB]), Duration.seconds(1)], "value/tData:01AB/tDuration:1000000000000000000/"),
      ([URL(string: "b", relativeTo: URL(string: "c:/"))], "value/tOptional%3CURL%3E:(b~c%3A%2F,)/"),
      ([Decimal(sign: .plus, exponent: -2, significand: 150)], "value/tDecimal:1.5/"),
      ([Int?.none, Int?.some(1)], "value/tOptional%3CInt%3E:()/tOptional%3CInt%3E:(1,)/"),
      ([["b", "a"], Set(["b", "a"])], "value/tArray%3CString%3E:(b,a,)/tSet%3CString%3E:(a,b,)/"),
      ([["b": 1, "a": 2]], "value/tDictionary%3CString%2C%20Int%3E:(a:2,b:1,)/"),
      ([KeyColor.red, KeyID(rawValue: 3)], "value/tPersistenceTests.KeyColor:rred/tPersistenceTests.KeyID:r3/"),
      (
        [KeyPoint(x: 0, y: -0.0, tags: ["b", "a"])],
        "value/tPersistenceTests.KeyPoint:[tags:Set:(a,b,),x:Double:0.0,y:Double:0.0,]/"
      ),
      ([KeyShape.named("a")], "value/tPersistenceTests.KeyShape:[named:[_0:String:a,],]/"),
      ([KeyAddress(text: "A")], "value/t%2APersistenceTests.KeyAddress:(sa,)/"),
      ([["a", 1] as OperationPath], "value/tOperationPath:(sa,i1,)/"),
    ] as [(OperationPath, String)]
  )
  func `Keys are the same in each process`(path: OperationPath, key: String) throws {
    try expect(StorageKey.values(matching: path), equals: key)
    try expect(StorageKey.value(named: "e\u{301}", at: path), equals: key + "=%C3%A9=")
  }

  @Test func `Elements of every kind are equal if and only if their keys are`() throws {
    let elements = keyElements.map { OperationPath.Element($0) }
    let keys = try elements.map { try StorageKey.values(matching: OperationPath(CollectionOfOne($0))) }
    for (i, first) in elements.enumerated() {
      #expect(keys[i].utf8.allSatisfy { (0x20..<0x7F).contains($0) })
      for (j, second) in elements.enumerated() {
        guard (first == second) != (keys[i] == keys[j]) else { continue }
        Issue.record("\(first) and \(second) have the keys \(keys[i]) and \(keys[j])")
      }
    }
  }

  @Test func `Random paths are equal, or begin with another, if and only if their keys do`() throws {
    var generator = SeededGenerator(seed: 27)
    for _ in 0..<20 {
      // Few elements, so that many paths share a beginning.
      let elements = keyElements.shuffled(using: &generator).prefix(3)
      let paths = (0..<40).map { _ in
        OperationPath(
          (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            OperationPath.Element(elements.randomElement(using: &generator) ?? "")
          }
        )
      }
      let keys = try paths.map { try StorageKey.values(matching: $0) }
      let entries = try paths.map { try StorageKey.value(named: "text", at: $0) }
      for i in paths.indices {
        for j in paths.indices {
          let areAlike = (paths[i] == paths[j]) == (entries[i] == entries[j])
          if areAlike, paths[i].isPrefix(of: paths[j]) == entries[j].hasPrefix(keys[i]) { continue }
          Issue.record("\(paths[i]) and \(paths[j]) have the keys \(entries[i]) and \(entries[j])")
        }
      }
    }
  }

  @Test func `Names are part of the key, whatever is in them`() throws {
    let names = ["", "=", "a", "a=", "a/", "=a", "\u{E9}", "a=b", "%3D"]
    let keys = try names.flatMap { name in
      try [["a"], ["a", "a"], []].map { try StorageKey.value(named: name, at: $0) }
    }
    expect(Set(keys).count, equals: names.count * 3)
  }

  @Test func `Elements without a key are those of unknown, private and local types`() throws {
    struct Local: Codable, Hashable, Sendable { var number = 1 }
    let elements: [any Hashable & Sendable] = [
      KeyPlain(number: 1), ObjectIdentifier(KeyObject.self), KeyObject(), Local(), [Local](), Local?.none,
      KeyBox(value: Local()), [KeyPlain(number: 1)], KeyForgetful(kept: 1, hidden: 1), PrivateElement(),
      [ObjectIdentifier(KeyObject.self): 1], [["a", KeyPlain(number: 1)] as OperationPath],
    ]
    for element in elements {
      let path = ["a", element] as OperationPath
      #expect(throws: NoStorageKey.self, "\(path)") { try StorageKey.values(matching: path) }
      expect(StorageKey.text(of: path), equals: nil)
    }
  }

  @Test func `A deep value has a key at once`() throws {
    var path: OperationPath = ["a"]
    for _ in 0..<100 { path = [path] }
    #expect(try StorageKey.values(matching: path).utf8.count < 4_000)
    let list = (0..<2_000).map { KeyPoint(x: Double($0), y: 0) }
    #expect(try StorageKey.values(matching: [KeyBox(value: list)]).utf8.count < 200_000)
  }
}

/// Private: its name has an address in it.
private struct PrivateElement: Codable, Hashable, Sendable {}
