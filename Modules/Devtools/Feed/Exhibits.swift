#if SwiftOperationDevtools
  internal import OperationCore
  internal import Synchronization

  /// What a page shows besides the stores.
  final class Exhibits: Sendable {
    typealias Snapshots = @Sendable () -> [any OperationResilienceSnapshot]

    private let sources = Mutex<[Snapshots]>([])

    func add(_ snapshots: @escaping Snapshots) { self.sources.withLock { $0.append(snapshots) } }

    /// The snapshots of now.
    var snapshots: [any OperationResilienceSnapshot] {
      self.sources.withLock { $0 }.flatMap { $0() }
    }
  }

  extension JSONText {
    mutating func value(_ snapshot: any OperationResilienceSnapshot) {
      self.object { json in
        json.member("name", snapshot.name)
        json.member("kind", "\(type(of: snapshot))")
        json.member("text", snapshot.description)
        json.key("gauges")
        json.object { json in
          for (name, number) in snapshot.gauges.sorted(by: { $0.key < $1.key }) { json.member(name, number) }
        }
      }
    }
  }
#endif
