#if SwiftOperationLogging && SwiftOperationMetrics && SwiftOperationTracing && SwiftOperationDevtools
  import Operation
  import OperationDerivation
  import OperationFleet
  import OperationPersistence
  import OperationScheduling
  import TestFixtures

  /// A part of a path, a scope or a tag that has a key in storages and fleets.
  struct Guest: Codable, Hashable, Sendable, CustomStringConvertible {
    let secret: MarkedSecret

    var description: String { "guest \(self.secret.text)" }
  }

  /// A value that cannot be encoded, by an error with its secret.
  private struct Uncoded: Codable, Sendable {
    let secret: MarkedSecret

    init(_ secret: MarkedSecret) { self.secret = secret }
    init(from decoder: any Decoder) throws { throw Denied(visitor: Visitor(secret: MarkedSecret(number: 0))) }
    func encode(to encoder: any Encoder) throws { throw Denied(visitor: Visitor(secret: self.secret)) }
  }

  /// A storage that refuses entries of the name `refused`, with an error that has a secret.
  private final class RefusingStorage: PersistentStorage {
    private let base = InMemoryStorage()
    private let secret: MarkedSecret

    init(_ secret: MarkedSecret) {
      self.secret = secret
    }

    nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      try await self.base.entries(withPrefix: prefix)
    }

    nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
      _ = try await self.apply(batch, if: [])
    }

    nonisolated(nonsending) func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws -> StorageOutcome {
      if batch.contains(where: { $0.key.contains("refused") }) {
        throw StorageError(
          code: .failed,
          message: "It is refused.",
          cause: Denied(visitor: Visitor(secret: self.secret))
        )
      }
      return try await self.base.apply(batch, if: conditions)
    }

    nonisolated(nonsending) func close() async { await self.base.close() }
  }

  extension SecretPlace {
    /// Places in what storages, journals and fleets report.
    static let stored = [
      SecretPlace("the path of a stored value, whose storage fails") { client, secret in
        let other = client.sibling(RefusingStorage(secret))
        let query = QueryOperation<Int, any Error>("stored", Guest(secret: secret)) { _, _ in 1 }
        _ = try? await other.store(for: query.persisted(as: "refused")).fetch()
        await other.flush()
      },
      SecretPlace("a stored value that cannot be encoded") { client, secret in
        let other = client.sibling(InMemoryStorage())
        let query = QueryOperation<Uncoded, any Error>("stored", Guest(secret: secret)) { _, _ in Uncoded(secret) }
        _ = try? await other.store(for: query.persisted(as: "value")).fetch()
        await other.flush()
      },
      SecretPlace("a stored value that cannot be decoded") { client, secret in
        let storage = InMemoryStorage()
        let first = client.sibling(storage)
        let texts = QueryOperation<String, any Error>("stored", Guest(secret: secret)) { _, _ in secret.text }
        _ = try? await first.store(for: texts.persisted(as: "value")).fetch()
        await first.flush()
        let numbers = QueryOperation<Kind, any Error>("stored", Guest(secret: secret)) { _, _ in .known }
        _ = try? await client.sibling(storage).store(for: numbers.persisted(as: "value")).fetch()
      },
      SecretPlace("a path that has no key") { client, secret in
        let query = QueryOperation<Int, any Error>("stored", Visitor(secret: secret)) { _, _ in 1 }
        _ = try? await client.sibling(InMemoryStorage()).store(for: query.persisted(as: "value")).fetch()
        client.join(InMemoryFleet())
        _ = try? await client.store(for: query.sharedInFleet(as: "value")).fetch()
      },
      SecretPlace("a journaled call: its scope, its arguments and its failure") { client, secret in
        let other = client.sibling(InMemoryStorage())
        let mutation = MutationOperation<Account, Int, any Error>("send") { _, _ in
          throw Denied(visitor: Visitor(secret: secret))
        }
        let scoped = mutation.scope(Guest(secret: secret)).journaled(as: "send", failsForGood: .where { _ in false })
        _ = try? await other.store(for: scoped).mutate(with: Account(secret: secret))
        OperationWarning(code: .invalidArgument, message: "\(other.journal.entries)").report()
        await other.journal.resume()
        OperationWarning(
          code: .invalidArgument,
          message: "\(other.journal.entries) \(other.store(for: scoped).explain())"
        )
        .report()
      },
      SecretPlace("a journaled call whose scope has no key") { client, secret in
        let other = client.sibling(InMemoryStorage())
        let mutation = MutationOperation<Int, Int, any Error>("send") { _, _ in throw Refused() }
        let scoped = mutation.scope(Visitor(secret: secret)).journaled(as: "send", failsForGood: .where { _ in false })
        _ = try? await other.store(for: scoped).mutate(with: 1)
        OperationWarning(code: .invalidArgument, message: "\(other.journal.entries)").report()
      },
      SecretPlace("a journaled call that cannot be stored") { client, secret in
        let mutation = MutationOperation<Uncoded, Int, any Error>("send", secret.number) { _, _, _ in 1 }
        let store = client.sibling(InMemoryStorage()).store(for: mutation.journaled(as: "send"))
        await Self.report { _ = try await store.mutate(with: Uncoded(secret)) }
        let refused = MutationOperation<Int, Int, any Error>("refused", secret.number) { _, _, _ in 1 }
        let other = client.sibling(RefusingStorage(secret))
        await Self.report { _ = try await other.store(for: refused.journaled(as: "refused")).mutate(with: 1) }
      },
      SecretPlace("a value that a fleet does not share") { client, secret in
        let other = client.sibling(InMemoryStorage())
        other.join(InMemoryFleet(), settings: FleetSettings(maximumValueSize: 1))
        let large = QueryOperation<String, any Error>("large", Guest(secret: secret)) { _, _ in "a text" }
        _ = try? await other.store(for: large.sharedInFleet(as: "large")).fetch()
        let uncoded = QueryOperation<Uncoded, any Error>("uncoded", Guest(secret: secret)) { _, _ in Uncoded(secret) }
        _ = try? await other.store(for: uncoded.sharedInFleet(as: "uncoded")).fetch()
        let source = QueryOperation<Int, any Error>("source", Guest(secret: secret)) { _, _ in 1 }
        let derived = QueryOperation<Int, any Error>("derived", Guest(secret: secret)) { _, context in
          try await context.value(of: source)
        }
        _ = try? await other.store(for: derived.derived().sharedInFleet(as: "derived")).fetch()
        let guests = Array(repeating: Guest(secret: secret), count: 400)
        let tagged = QueryOperation<Int, any Error>("tagged", secret.number) { _, _ in 1 }
          .tagged { _ in [.entity("guests", guests)] }
        _ = try? await other.store(for: tagged.sharedInFleet(as: "tagged")).fetch()
      },
      SecretPlace("a value of a fleet that cannot be decoded") { client, secret in
        let fleet = InMemoryFleet()
        let (one, two) = (client.sibling(InMemoryStorage()), client.sibling(InMemoryStorage()))
        one.join(fleet.connect(as: "one"))
        two.join(fleet.connect(as: "two"))
        let texts = QueryOperation<String, any Error>("shared", Guest(secret: secret)) { _, _ in secret.text }
        _ = try? await one.store(for: texts.sharedInFleet(as: "value")).fetch()
        let kinds = QueryOperation<Kind, any Error>("shared", Guest(secret: secret)) { _, _ in .known }
        let store = two.store(for: kinds.sharedInFleet(as: "value"))
        _ = try? await store.fetch()
        OperationWarning(code: .invalidArgument, message: "\(store.explain())").report()
      },
      SecretPlace("an error in an error of the library") { _, secret in
        let errors: [any Error] = [Denied(visitor: Visitor(secret: secret)), Refusal.token(secret)]
        for cause in errors {
          let texts = [
            "\(StorageError(code: .failed, message: "It has failed.", cause: cause))",
            "\(FleetError(code: .failed, message: "It has failed.", cause: cause))",
            "\(CircuitOpen(retryAfter: nil, lastFailure: cause))",
            "\(OperationRejected(retryAfter: nil, lastFailure: cause))",
            "\(OperationAlternativesDenied(errors: [cause]))", "\(OperationAttempt(index: 2, lastFailure: cause))",
          ]
          for text in texts { OperationWarning(code: .invalidArgument, message: text).report() }
        }
        var context = OperationContext()
        context.visitor = Visitor(secret: secret)
        OperationWarning(code: .invalidArgument, message: "\(context)").report()
      },
    ]

    /// Reports the text of the error of a call.
    private static func report(_ body: () async throws -> Void) async {
      do { try await body() } catch { OperationWarning(code: .invalidArgument, message: "\(error)").report() }
    }
  }

  extension OperationClient {
    /// A client with the same observers, and a storage of its own.
    fileprivate func sibling(_ storage: any PersistentStorage) -> OperationClient {
      var context = self.defaultContext
      context.operationStorage = storage
      return OperationClient(defaultContext: context, storeCreator: OperationClient.PlainStoreCreator())
    }
  }

  extension OperationContext {
    fileprivate enum VisitorKey: Key {
      static let defaultValue: Visitor? = nil
    }

    fileprivate var visitor: Visitor? {
      get { self[VisitorKey.self] }
      set { self[VisitorKey.self] = newValue }
    }
  }
#endif
