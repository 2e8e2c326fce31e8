import Foundation
import OperationCore
import OperationPathKeyGeneration
import TestFixtures
import Testing

/// Like the other snapshot, with public keys and imports that have the access level they need.
@Suite(.bounded)
struct PublicSnapshotTests {
  private let folder = URL(filePath: #filePath).deletingLastPathComponent()

  private func code(_ edit: (String) -> String = { $0 }) throws -> String {
    let text = try String(contentsOf: self.folder.appending(path: "Input/OperationPaths.json"), encoding: .utf8)
    return try PathKeyGenerator.generate(
      from: [SourceFile(path: "OperationPaths.json", text: edit(text))],
      importing: "OperationCore"
    )
  }

  @Test
  func `The generator produces the code that is compiled here`() throws {
    let snapshot = try String(contentsOf: self.folder.appending(path: "PathKeys.swift"), encoding: .utf8)
    try expect(self.code(), equals: snapshot)
  }

  @Test
  func `Another access level changes the levels and nothing else`() throws {
    let code = try self.code { $0.replacing("\"public\"", with: "\"package\"") }
    try expect(code, equals: self.code().replacing("public ", with: "package "))
  }

  @Test
  func `Public keys work as others do`() {
    expect(PathKeys.articles.article(number: 1).path, equals: ["articles", "article", 1])
    expect(OperationPathKey(Article.Query(number: 1)), equals: PathKeys.articles.article(number: 1))
    expect(OperationContext().day, equals: 2)
  }
}
