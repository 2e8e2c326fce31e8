import CoreFixtures
import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// What is secret appears in no text, also as a part of something else.
@Suite(.bounded, .warningsAreIssues)
struct SecretTests {
  private let token = Token(text: "hush")

  @Test
  func `A secret part of an error is shown as its type, and the rest as it is`() {
    let failed = LoginFailed(user: "ada", tokens: [self.token, self.token], reason: .expired(self.token, after: 3))
    expect(
      ShownText.of(failed),
      equals: "LoginFailed(user: ada, tokens: [Token, Token], reason: Reason(expired: (Token, after: 3)))"
    )
    expect(ShownText.of(Refused(code: 3)), equals: "Refused(code: 3)")
  }

  @Test
  func `The own description of an error with a secret part is not shown`() {
    expect(ShownText.of(Described(token: self.token)), equals: "Described(token: Token)")
    expect(ShownText.of(Described(token: nil)), equals: "no token")
    let wrapping = Wrapping(underlying: Described(token: self.token))
    expect(ShownText.of(wrapping), equals: "Wrapping(underlying: Described(token: Token))")
  }

  @Test
  func `An error of an encoder is shown by its kind and its coding path, without the value`() {
    let path: [any CodingKey] = [Key.author, Key.names, Index(3), Other(stringValue: "ada"), Key.names]
    let error = EncodingError.invalidValue(
      ["hush"],
      EncodingError.Context(codingPath: path, debugDescription: "hush", underlyingError: Refused(code: 3))
    )
    let text = "EncodingError.invalidValue at author.names[3][…].names"
    expect(ShownText.of(error), equals: text)
    expect(ShownText.of(Wrapping(underlying: error)), equals: "Wrapping(underlying: \(text))")
    expect(ShownText.whole(error), equals: text)
    expect(ShownText.ofEncoding(error), equals: text)
    let root = EncodingError.invalidValue("hush", EncodingError.Context(codingPath: [], debugDescription: "hush"))
    expect(ShownText.of(root), equals: "EncodingError.invalidValue")
    #expect(ShownText.ofEncoding(Described(token: nil)).hasSuffix("Described"))
  }

  @Test
  func `An error of a decoder is shown by its kind and its coding path, without the value`() {
    func error(_ json: String) -> any Error {
      Result { try JSONDecoder().decode([String: [Kind]].self, from: Data(json.utf8)) }.failure ?? Refused()
    }
    expect(ShownText.of(error(#"{"ada": ["known", "hush"]}"#)), equals: "DecodingError.dataCorrupted at […][1]")
    expect(ShownText.of(error(#"{"ada": [1]}"#)), equals: "DecodingError.typeMismatch(String) at […][0]")
    #expect(ShownText.whole(Wrapping(underlying: error("hush"))).contains("DecodingError.dataCorrupted"))
    let missing = DecodingError.keyNotFound(Key.author, .init(codingPath: [Key.names], debugDescription: "hush"))
    expect(ShownText.of(missing), equals: "DecodingError.keyNotFound(author) at names")
  }

  @Test
  func `A secret that an object inherits is not shown by its own description`() {
    let object = Inheriting(token: self.token)
    expect(ShownText.of(value: object), equals: "Inheriting(token: Token)")
    #expect(ShownText.mayHaveSecret([object]))
    #expect(!ShownText.mayHaveSecret([1, 2]))
  }

  @Test
  func `The name of a private type is the same at each start`() {
    expect(ShownText.typeName(of: Described(token: nil)), equals: "ClientTests.Described")
    expect(ShownText.typeName(of: Refused()), equals: "TestFixtures.Refused")
    struct Local<Value>: Error {}
    #expect(!ShownText.typeName(of: Local<(Described, Int)>()).contains("unknown context"))
  }

  @Test
  func `A condition with a secret part is shown as its type`() {
    let query = IntScript().query(path: ["a"]).enableAutomaticRunning(
      onlyWhen: Unlocked(token: self.token) && Unlocked(token: nil)
    )
    let store = IntStore.detached(query: query)
    guard case .waiting(let text) = store.inspect().automaticRuns else {
      Issue.record("\(store.inspect().automaticRuns)")
      return
    }
    expect(text, equals: "(Unlocked && unlocked)")
  }

  @Test
  func `A secret part of an element of a path, and of a category`() {
    let path: OperationPath = ["posts", Identity(number: 1, token: self.token)]
    expect(ShownText.of(path), equals: "[\"posts\", Identity(number: 1, token: Token)]")
    #expect(ShownText.of(["posts", Identity(number: 1, token: nil)] as OperationPath).contains("number: 1"))
  }

  @Test
  func `Objects that refer to each other, and values with too many parts, are shown as their type`() {
    let (first, second) = (Node(), Node())
    first.other = second
    second.other = first
    expect(ShownText.of(Cyclic(node: first)), equals: "Cyclic")
    first.other = nil
    expect(ShownText.of(Large(numbers: Array(repeating: 1, count: 2_000))), equals: "Large")
  }

  @Test
  func `A warning and a description have no secret of a path`() throws {
    let client = OperationClient()
    let store = client.store(for: IntScript().query(path: ["a", self.token]))
    let recorder = WarningRecorder()
    let other = recorder.recording {
      client.store(for: OperationScript<String, any Error>().query(path: ["a", self.token]))
    }

    expect(recorder.warnings.map(\.code), equals: [.pathInUse])
    #expect(try #require(recorder.warnings.first?.message).contains("[\"a\", Token]"))
    #expect(!"\(recorder.warnings) \(store) \(other)".contains("hush"))
  }

  @Test
  func `A snapshot of a client has no secret`() throws {
    let client = OperationClient()
    let store = client.store(for: IntScript().query(path: ["a", self.token]))
    store.setResult(to: .failure(LoginFailed(user: "ada", tokens: [self.token], reason: .unknown)))
    let snapshot = client.snapshot()
    expect(snapshot.stores.map(\.path), equals: ["[\"a\", Token]"])
    expect(snapshot.stores.first?.error?.hasPrefix("LoginFailed(user: ada, tokens: [Token]"), equals: true)
    let encoded = String(decoding: try JSONEncoder().encode(snapshot), as: UTF8.self)
    #expect(!encoded.contains("hush") && !snapshot.description.contains("hush"))
  }
}

private struct Token: Hashable, Sendable, OperationSecret {
  let text: String
}

private enum Key: CodingKey {
  case author, names
}

private struct Other: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// An index, as encoders name those of lists.
private struct Index: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ index: Int) { (self.stringValue, self.intValue) = ("Index \(index)", index) }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { self.init(intValue) }
}

private struct Identity: Hashable, Sendable {
  let number: Int
  let token: Token?
}

private struct LoginFailed: Error {
  enum Reason {
    case unknown
    case expired(Token, after: Int)
  }

  let user: String
  let tokens: [Token]
  let reason: Reason
}

private struct Described: Error, CustomStringConvertible {
  let token: Token?

  var description: String { self.token.map { "the token \($0.text)" } ?? "no token" }
}

private struct Wrapping: Error {
  let underlying: any Error
}

private final class Node: @unchecked Sendable {
  // Unchecked: one test uses it.
  var other: Node?
}

private struct Cyclic: Error {
  let node: Node
}

private class Holding: CustomStringConvertible, @unchecked Sendable {
  // Unchecked: nothing changes.
  let token: Token

  init(token: Token) { self.token = token }

  var description: String { "holding \(self.token.text)" }
}

private final class Inheriting: Holding, @unchecked Sendable {}  // Unchecked like its base class.

private enum Kind: String, Codable {
  case known
}

private struct Unlocked: OperationRunSpecification, Sendable, CustomStringConvertible {
  let token: Token?

  var description: String { self.token.map { "unlocked by \($0.text)" } ?? "unlocked" }

  func isSatisfied(in context: OperationContext) -> Bool { false }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

private struct Large: Error {
  let numbers: [Int]
}
