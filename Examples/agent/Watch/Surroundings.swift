import Operation

/// Prints the changes that the observers report.
enum Surroundings {
  static func observe(_ transcript: Transcript) -> OperationSubscription {
    var subscriptions: [OperationSubscription] = []
    if let network = OperationClient.defaultNetworkObserver {
      subscriptions.append(network.subscribe { transcript.say(.network, "\($0)") })
    } else {
      transcript.say(.network, "it is not observed on this system")
    }
    if let activity = OperationClient.defaultActivityObserver {
      subscriptions.append(activity.subscribe { transcript.say(.activity, $0 ? "active" : "inactive") })
    } else {
      transcript.say(.activity, "it is not observed on this system")
    }
    #if os(Linux)
      subscriptions.append(CgroupMemoryPressureSource.cgroup.subscribe { transcript.say(.memory, $0.words) })
    #else
      transcript.say(.memory, "it is not observed on this system")
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
