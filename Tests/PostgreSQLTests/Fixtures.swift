#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import OperationCore
  import OperationPersistence
  import Synchronization
  import Testing

  @testable import OperationPostgreSQL

  /// Where the tests with a server are skipped: with the reason, or never where a check demands them.
  enum ServerTests {
    static let areOn = isDemanded || (setting != "skipped" && DatabaseServer.programs != nil)
    /// Whether a missing server is a failure.
    static let isDemanded = setting == "required"
    static let comment: Comment =
      setting == "skipped"
      ? "SWIFT_OPERATION_FLEET is \"skipped\"."
      : "No PostgreSQL server is installed (Debian: apt-get install postgresql)."

    /// `required` or `skipped`; by default the tests run where there is a server.
    private static let setting = ProcessInfo.processInfo.environment["SWIFT_OPERATION_FLEET"]

    private static let number = Atomic(0)

    /// A name for a schema that no other test has.
    static func newSchema(_ name: String = "test") -> String {
      "\(name)_\(self.number.wrappingAdd(1, ordering: .relaxed).newValue)"
    }
  }

  extension Trait where Self == ConditionTrait {
    /// Runs the test where a server is installed.
    static var needsServer: Self { .enabled(if: ServerTests.areOn, ServerTests.comment) }
  }

  /// The names of the schemas of storages and fleets.
  final class NamesByObject: Sendable {
    private let names = Locked<[ObjectIdentifier: String]>([:])

    func add(_ name: String, of object: AnyObject) {
      self.names.withLock { $0[ObjectIdentifier(object)] = name }
    }

    func name(of object: AnyObject) -> String {
      self.names.withLock { $0[ObjectIdentifier(object)] } ?? ""
    }
  }

  extension PersistentStorage {
    func keys(_ prefix: String = "") async throws -> [String] {
      try await self.entries(withPrefix: prefix).map(\.key)
    }

    func put(_ key: String, _ text: String = "1") async throws {
      try await self.apply([.put(key: key, value: Array(text.utf8))])
    }
  }
#endif
