import CoreFixtures
import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationCore

/// What is secret appears in no text, also as a part of something else.
@Suite(.bounded, .warningsAreIssues)
struct SecretTests {
  private let token = Token(text: "hush")

  @Test
  func `A secret part of an error is shown as its type, and the rest as it is`() {
    let failed = LoginFailed(user: "ada", tokens: [self.token, self.token], reason: .expired(self.token, after: 3))
    #expect(
      ShownText.of(failed)
        == "LoginFailed(user: ada, tokens: [Token, Token], reason: Reason(expired: (Token, after: 3)))"
    )
    #expect(ShownText.of(Refused(code: 3)) == "Refused(code: 3)")
  }

  @Test
  func `The own description of an error with a secret part is not shown`() {
    #expect(ShownText.of(Described(token: self.token)) == "Described(token: Token)")
    #expect(ShownText.of(Described(token: nil)) == "no token")
    let wrapping = Wrapping(underlying: Described(token: self.token))
    #expect(ShownText.of(wrapping) == "Wrapping(underlying: Described(token: Token))")
  }

  @Test
  func `An error of an encoder is shown by its kind and its coding path, without the value`() {
    let path: [any CodingKey] = [Key.author, Key.names, Index(3), Other(stringValue: "ada"), Key.names]
    let error = EncodingError.invalidValue(
      ["hush"],
      EncodingError.Context(codingPath: path, debugDescription: "hush", underlyingError: Refused(code: 3))
    )
    let text = "EncodingError.invalidValue at author.names[3][…].names"
    #expect(ShownText.of(error) == text)
    #expect(ShownText.of(Wrapping(underlying: error)) == "Wrapping(underlying: \(text))")
    #expect(ShownText.whole(error) == text)
    #expect(ShownText.ofEncoding(error) == text)
    let root = EncodingError.invalidValue("hush", EncodingError.Context(codingPath: [], debugDescription: "hush"))
    #expect(ShownText.of(root) == "EncodingError.invalidValue")
    #expect(ShownText.ofEncoding(Described(token: nil)).hasSuffix("Described"))
  }

  @Test
  func `A secret part of an element of a path, and of a category`() {
    let path: OperationPath = ["posts", Identity(number: 1, token: self.token)]
    #expect(ShownText.of(path) == "[\"posts\", Identity(number: 1, token: Token)]")
    #expect(ShownText.of(["posts", Identity(number: 1, token: nil)] as OperationPath).contains("number: 1"))
  }

  @Test
  func `Objects that refer to each other, and values with too many parts, are shown as their type`() {
    let (first, second) = (Node(), Node())
    first.other = second
    second.other = first
    #expect(ShownText.of(Cyclic(node: first)) == "Cyclic")
    first.other = nil
    #expect(ShownText.of(Large(numbers: Array(repeating: 1, count: 2_000))) == "Large")
  }

  @Test
  func `A warning and a description have no secret of a path`() throws {
    let client = OperationClient()
    let store = client.store(for: IntScript().query(path: ["a", self.token]))
    let recorder = WarningRecorder()
    let other = recorder.recording {
      client.store(for: OperationScript<String, any Error>().query(path: ["a", self.token]))
    }

    #expect(recorder.warnings.map(\.code) == [.pathInUse])
    #expect(try #require(recorder.warnings.first?.message).contains("[\"a\", Token]"))
    #expect(!"\(recorder.warnings) \(store) \(other)".contains("hush"))
  }

  @Test
  func `A snapshot of a client has no secret`() throws {
    let client = OperationClient()
    let store = client.store(for: IntScript().query(path: ["a", self.token]))
    store.setResult(to: .failure(LoginFailed(user: "ada", tokens: [self.token], reason: .unknown)))
    let snapshot = client.snapshot()
    #expect(snapshot.stores.map(\.path) == ["[\"a\", Token]"])
    #expect(snapshot.stores.first?.error?.hasPrefix("LoginFailed(user: ada, tokens: [Token]") == true)
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

private struct Large: Error {
  let numbers: [Int]
}
