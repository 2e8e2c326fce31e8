#if SwiftOperationLogging && SwiftOperationMetrics && SwiftOperationTracing && SwiftOperationDevtools
  import Foundation
  import Operation
  import OperationDerivation
  import OperationScheduling
  import Synchronization
  import TestFixtures

  /// A secret that shows itself in every text that is made of it, with a mark that is looked for.
  struct MarkedSecret: Hashable, Codable, Sendable, OperationSecret {
    static let mark = "hush-"

    let number: Int

    var text: String { "\(Self.mark)\(self.number)" }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(self.text)
    }

    init(number: Int) {
      self.number = number
    }

    init(from decoder: any Decoder) throws {
      let text = try decoder.singleValueContainer().decode(String.self)
      self.init(number: Int(text.dropFirst(Self.mark.count)) ?? 0)
    }
  }

  extension MarkedSecret: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { self.text }
    var debugDescription: String { self.text }
  }

  /// A part of a path, a tag or an error with a secret member, which its own description shows.
  struct Visitor: Hashable, Sendable, CustomStringConvertible {
    let secret: MarkedSecret

    var description: String { "visitor \(self.secret.text)" }
  }

  /// A value that writes the text of its secret when it is encoded.
  struct Account: Codable, Hashable, Sendable {
    var name = "Ada"
    var secret: MarkedSecret

    private enum CodingKeys: CodingKey {
      case name, secret
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(self.name, forKey: .name)
      try container.encode(self.secret.text, forKey: .secret)
    }
  }

  /// A value that encodes itself as the text of its secret alone.
  private struct Pass: Codable, Hashable, Sendable {
    var secret: MarkedSecret

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode("pass \(self.secret.text)")
    }
  }

  /// An object that describes itself, and inherits its secret.
  private class Credential: CustomStringConvertible, @unchecked Sendable {
    // Unchecked: nothing changes.
    let secret: MarkedSecret

    init(_ secret: MarkedSecret) {
      self.secret = secret
    }

    var description: String { "credential \(self.secret.text)" }
  }

  private final class Key: Credential, Error, @unchecked Sendable {}  // Unchecked like its base class.

  enum Refusal: Error, CustomStringConvertible, LocalizedError {
    case token(MarkedSecret)
    case nested(any Error)

    var description: String {
      switch self {
      case .token(let secret): "refused \(secret.text)"
      case .nested(let error): "refused \(error)"
      }
    }

    var errorDescription: String? { self.description }
  }

  struct Denied: Error, CustomStringConvertible {
    let visitor: Visitor

    var description: String { "denied \(self.visitor.secret.text)" }
  }

  private struct Busy: RetryHinting, LocalRejection, CustomStringConvertible {
    let secret: MarkedSecret
    let retryAfter: OperationDuration? = .milliseconds(1)

    var description: String { "busy \(self.secret.text)" }
  }

  /// A condition that shows its secret in its text.
  private struct Unlocked: OperationRunSpecification, Sendable, CustomStringConvertible {
    let secret: MarkedSecret
    let isOn: Bool

    var description: String { "unlocked by \(self.secret.text)" }

    func isSatisfied(in context: OperationContext) -> Bool { self.isOn }
  }

  enum Kind: String, Codable {
    case known
  }

  /// A place that a text can come from: something that is done with a client and a secret.
  struct SecretPlace: Sendable {
    let name: String
    let use: @Sendable (OperationClient, MarkedSecret) async -> Void

    init(_ name: String, _ use: @escaping @Sendable (OperationClient, MarkedSecret) async -> Void) {
      self.name = name
      self.use = use
    }

    static let all = Self.paths + Self.errors + Self.values + Self.others + Self.stored

    private static func query(_ secret: MarkedSecret) -> QueryOperation<Int, any Error> {
      QueryOperation("numbers", secret.number) { _, _ in 1 }
    }

    /// Places in paths, and in what is told of paths.
    private static let paths = [
      SecretPlace("an element of a path") { client, secret in
        _ = try? await client.store(for: QueryOperation<Int, any Error>("posts", secret) { _, _ in 1 }).fetch()
      },
      SecretPlace("the first element of a path") { client, secret in
        _ = try? await client.store(for: QueryOperation<Int, any Error>(secret, 1) { _, _ in 1 }).fetch()
      },
      SecretPlace("a member of an element") { client, secret in
        let store = client.store(for: QueryOperation<Int, any Error>("visitors", Visitor(secret: secret)) { _, _ in 1 })
        let subscription = store.subscribe(with: QueryEventHandler())
        _ = try? await store.fetch()
        subscription.cancel()
      },
      SecretPlace("a list and a dictionary in a path") { client, secret in
        let elements = QueryOperation<Int, any Error>("lists", [secret], [secret: 1], Optional(secret)) { _, _, _, _ in
          1
        }
        _ = try? await client.store(for: elements).fetch()
      },
      SecretPlace("an invalidation") { client, secret in
        let store = client.store(for: QueryOperation<Int, any Error>("old", Visitor(secret: secret)) { _, _ in 1 })
        let subscription = store.subscribe(with: QueryEventHandler())
        client.invalidate(matching: ["old", Visitor(secret: secret)])
        subscription.cancel()
      },
      SecretPlace("a path that is in use") { client, secret in
        _ = client.store(for: QueryOperation<Int, any Error>("used", Visitor(secret: secret)) { _, _ in 1 })
        _ = client.store(for: QueryOperation<String, any Error>("used", Visitor(secret: secret)) { _, _ in "" })
      },
      SecretPlace("an interval that is refused") { client, secret in
        let query = QueryOperation<Int, any Error>("polled", Visitor(secret: secret)) { _, _ in 1 }
        _ = client.store(for: query.rerun(every: .zero))
      },
      SecretPlace("a source of a derived query") { client, secret in
        let source = QueryOperation<Int, any Error>("source", Visitor(secret: secret)) { _, _ in 1 }
        let derived = QueryOperation<Int, any Error>("derived", secret.number) { _, context in
          try await context.value(of: source)
        }
        _ = try? await client.store(for: derived.derived()).fetch()
      },
      SecretPlace("a store that another one waits for") { client, secret in
        let slow = QueryOperation<Int, any Error>("slow", Visitor(secret: secret)) { _, _ in 1 }
        let waiting = QueryOperation<Int, any Error>("waiting", secret.number) { _, _ in
          try await client.store(for: slow).fetch()
        }
        _ = try? await client.store(for: waiting).fetch()
      },
    ]

    /// Places in errors.
    private static let kindsOfErrors: [(name: String, make: @Sendable (MarkedSecret) -> any Error)] = [
      ("a member of an error", { Denied(visitor: Visitor(secret: $0)) }),
      ("a case of an error", { Refusal.token($0) }),
      ("an error in an error", { Refusal.nested(Denied(visitor: Visitor(secret: $0))) }),
      ("a superclass of an error", { Key($0) }),
      ("an error that says when to come back", { Busy(secret: $0) }),
      ("the user information of an error", { NSError(domain: "test", code: 1, userInfo: ["token": $0]) }),
      (
        "an error of a decoder",
        { secret in
          Result { try JSONDecoder().decode([Kind].self, from: Data("[\"\(secret.text)\"]".utf8)) }.error ?? Refused()
        }
      ),
      (
        "an error of an encoder",
        { secret in
          let context = EncodingError.Context(codingPath: [], debugDescription: secret.text)
          return EncodingError.invalidValue(secret.text, context)
        }
      ),
    ]

    private static let errors = kindsOfErrors.map { (name, make) in
      SecretPlace(name) { client, secret in
        let failing = QueryOperation<Int, any Error>("failing", name, secret.number) { _, _, _ in throw make(secret) }
        let store = client.store(for: failing.retry(limit: 1))
        _ = try? await store.fetch()
        _ = "\(store.state.status)"
        _ = try? await client.store(
          for: QueryOperation("rescued", name, secret.number) { _, _, _ in
            throw make(secret)
          }.fallback(0)
        ).fetch()
        let mutation = MutationOperation<MarkedSecret, Int, any Error>("send", name, secret.number) { _, _, _, _ in
          throw make(secret)
        }
        _ = try? await client.store(for: mutation).mutate(with: secret)
      }
    }

    /// Places in values.
    private static let values = [
      SecretPlace("a value") { client, secret in Self.set(secret, "value", secret.number, in: client) },
      SecretPlace("a member of a value") { client, secret in
        Self.set(Account(secret: secret), "account", secret.number, in: client)
      },
      SecretPlace("a value that encodes itself as a text") { client, secret in
        Self.set(Pass(secret: secret), "pass", secret.number, in: client)
      },
      SecretPlace("an element after the 200th") { client, secret in
        let accounts = (0..<300).map { Account(secret: MarkedSecret(number: $0 == 250 ? secret.number : 1_000_000)) }
        Self.set(accounts, "accounts", secret.number, in: client)
      },
      SecretPlace("the last of very many elements") { client, secret in
        let parts = (0..<3_000).map { $0 == 2_999 ? Optional(Pass(secret: secret)) : nil }
        Self.set(parts, "parts", secret.number, in: client)
      },
      SecretPlace("a key of a dictionary") { client, secret in
        Self.set([Visitor(secret: secret): 1], "keys", secret.number, in: client)
        Self.set([secret: 1], "secret keys", secret.number, in: client)
        Self.set(
          [AnyHashable(Visitor(secret: secret)).description.count: [AnyHashableBox(secret)]],
          "any",
          secret.number,
          in: client
        )
      },
      SecretPlace("an object that describes itself") { client, secret in
        Self.set(Credential(secret), "credential", secret.number, in: client)
        Self.set([Key(secret)], "credentials", secret.number, in: client)
      },
    ]

    private struct AnyHashableBox: Hashable, @unchecked Sendable {
      // Unchecked: nothing changes.
      let key: AnyHashable

      init(_ secret: MarkedSecret) {
        self.key = AnyHashable(secret)
      }
    }

    private static func set<Value: Sendable>(_ value: Value, _ name: String, _ number: Int, in client: OperationClient)
    {
      let store = client.store(for: QueryOperation<Value, any Error>(name, number) { _, _ in value })
      store.currentValue = value
      _ = "\(store.state)"
    }

    /// Places in what modifiers and modules tell.
    private static let others = [
      SecretPlace("the identifier of a tag") { client, secret in
        let query = Self.query(secret).tagged { _ in
          [OperationTag.entity("visitor", Visitor(secret: secret)), OperationTag.entity("secret", secret)]
        }
        let store = client.store(for: query)
        let subscription = store.subscribe(with: QueryEventHandler())
        _ = try? await store.fetch()
        client.invalidate(tagged: .entity("visitor", Visitor(secret: secret)))
        subscription.cancel()
      },
      SecretPlace("a condition that runs wait for") { client, secret in
        let query = QueryOperation<Int, any Error>("locked", secret.number) { _, _ in 1 }
          .waits(until: Unlocked(secret: secret, isOn: false), timeout: .milliseconds(1))
        let task = Task { try await client.store(for: query).fetch() }
        _ = try? await task.value
      },
      SecretPlace("conditions of automatic runs and of staleness") { client, secret in
        let query = QueryOperation<Int, any Error>("automatic", secret.number) { _, _ in 1 }
          .enableAutomaticRunning(
            onlyWhen: Unlocked(secret: secret, isOn: false) || Unlocked(secret: secret, isOn: false)
          )
          .staleWhen(satisfying: Unlocked(secret: secret, isOn: true))
        _ = client.store(for: query)
      },
      SecretPlace("arguments of a mutation, and its scope") { client, secret in
        let mutation = MutationOperation<Account, Int, any Error>("save", secret.number) { _, _, _ in 1 }
          .scope(Visitor(secret: secret))
        let store = client.store(for: mutation)
        _ = try? await store.mutate(with: Account(secret: secret))
      },
      SecretPlace("unique work and a category") { client, secret in
        let query = QueryOperation<Int, any Error>("unique", secret.number) { _, _ in 1 }
          .unique(Visitor(secret: secret), policy: .keep)
        _ = try? await client.store(for: query).fetch()
        OperationWarning(code: .invalidArgument, message: OperationCategory(Visitor(secret: secret)).description)
          .report()
      },
      SecretPlace("a key that a batch has no answer for") { client, secret in
        let batcher = OperationBatcher<Visitor, Int>(maximumSize: 1) { _, _ in [:] }
        let query = QueryOperation<Int, any Error>("batched", secret.number) { _, _ in
          try await batcher.load(Visitor(secret: secret))
        }
        let store = client.store(for: query)
        _ = try? await store.fetch()
        if let error = store.error { OperationWarning(code: .invalidArgument, message: "\(error)").report() }
      },
      SecretPlace("a mutation that invalidates a path") { client, secret in
        let mutation = MutationOperation<Int, Int, any Error>("edit", secret.number) { _, _, _ in 1 }
          .invalidates(matching: ["old", Visitor(secret: secret)])
        _ = try? await client.store(for: mutation).mutate(with: 1)
      },
    ]
  }

  extension Result {
    fileprivate var error: Failure? {
      if case .failure(let error) = self { error } else { nil }
    }
  }
#endif
