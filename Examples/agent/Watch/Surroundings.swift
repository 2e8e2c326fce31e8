import Operation

/// Tells what the observers tell.
enum Surroundings {
  static func tell(_ account: Account) -> OperationSubscription {
    var subscriptions: [OperationSubscription] = []
    if let network = OperationClient.defaultNetworkObserver {
      subscriptions.append(network.subscribe { account.say(.network, "\($0)") })
    } else {
      account.say(.network, "it is not observed on this system")
    }
    if let activity = OperationClient.defaultActivityObserver {
      subscriptions.append(activity.subscribe { account.say(.activity, $0 ? "active" : "inactive") })
    } else {
      account.say(.activity, "it is not observed on this system")
    }
    #if os(Linux)
      subscriptions.append(CgroupMemoryPressureSource.cgroup.subscribe { account.say(.memory, $0.words) })
    #else
      account.say(.memory, "it is not observed on this system")
    #endif
    return .combined(subscriptions)
  }
}

extension MemoryPressure {
  fileprivate var words: String {
    switch self {
    case .normal: "not short"
    case .warning: "short"
    case .critical: "very short"
    default: "\(self)"
    }
  }
}
