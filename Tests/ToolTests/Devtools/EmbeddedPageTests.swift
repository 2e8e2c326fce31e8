#if SwiftOperationDevtools
  import Foundation
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct EmbeddedPageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Modules/Devtools/Page/Source").standardized

    private func source(_ name: String) throws -> String {
      try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
    }

    @Test func `The embedded files are those of the folder`() throws {
      let advice: Comment = "Run Scripts/devtools-page."
      expect(EmbeddedPage.index, equals: (try self.source("index.html")), advice)
      expect(EmbeddedPage.style, equals: (try self.source("devtools.css")), advice)
      expect(EmbeddedPage.icon, equals: (try self.source("icon.svg")), advice)
      let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path(percentEncoded: false))
        .filter { $0.hasSuffix(".js") }
      let ordered = names.sorted { (Int($0.prefix { $0 != "-" }) ?? 0) < (Int($1.prefix { $0 != "-" }) ?? 0) }
      expect(EmbeddedPage.script, equals: (try ordered.map { try self.source($0) }.joined()), advice)
    }
  }
#endif
