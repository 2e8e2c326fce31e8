#if os(Linux)
  internal import OperationControlGroups

  /// The fraction of the available memory that is in use, without inactive file pages.
  enum MemoryUsage {
    /// The fraction of the tightest limit that is in use, or of the machine's memory if there is no limit; nil if it is
    /// unknown.
    static func fraction(in groups: MemoryGroups, procRoot: String) -> Double? {
      let machine = KeyedNumbers(parsing: FileText.read(procRoot + "/meminfo") ?? "")
      let installed = machine["MemTotal"].map { $0.multipliedReportingOverflow(by: 1_024) }
      let size = installed.map { $0.overflow ? .max : $0.partialValue } ?? .max
      var fractions: [Double] = []
      if groups.hasUnifiedMemory {
        fractions = groups.unified?.directories.compactMap { self.fraction(inUnified: $0, machineSize: size) } ?? []
      } else if let legacy = groups.legacy {
        fractions = [self.fraction(inLegacy: legacy.own, machineSize: size)].compactMap { $0 }
      }
      return fractions.max() ?? self.fraction(ofMachine: machine)
    }

    private static func fraction(inUnified group: String, machineSize: UInt64) -> Double? {
      let limits = ["memory.max", "memory.high"].compactMap { self.number(in: group + "/" + $0) }
      guard let limit = limits.min(), let usage = self.number(in: group + "/memory.current") else { return nil }
      let statistics = KeyedNumbers(parsing: FileText.read(group + "/memory.stat") ?? "")
      return self.fraction(of: limit, used: usage, droppable: statistics["inactive_file"], machineSize: machineSize)
    }

    private static func fraction(inLegacy group: String, machineSize: UInt64) -> Double? {
      let statistics = KeyedNumbers(parsing: FileText.read(group + "/memory.stat") ?? "")
      guard let limit = statistics["hierarchical_memory_limit"],
        let usage = self.number(in: group + "/memory.usage_in_bytes")
      else { return nil }
      let droppable = statistics["total_inactive_file"]
      return self.fraction(of: limit, used: usage, droppable: droppable, machineSize: machineSize)
    }

    private static func fraction(ofMachine memory: KeyedNumbers) -> Double? {
      guard let total = memory["MemTotal"], let available = memory["MemAvailable"], total > 0 else { return nil }
      return max(0, 1 - Double(available) / Double(total))
    }

    /// A limit that is not below the machine's memory does not count.
    private static func fraction(of limit: UInt64, used: UInt64, droppable: UInt64?, machineSize: UInt64) -> Double? {
      guard limit > 0, limit < machineSize else { return nil }
      let droppable = droppable ?? 0
      return used > droppable ? Double(used - droppable) / Double(limit) : 0
    }

    private static func number(in path: String) -> UInt64? {
      // The file contains the word "max" if there is no limit.
      FileText.read(path).flatMap { UInt64(decimal: $0.utf8.prefix { $0 != UInt8(ascii: "\n") }) }
    }
  }
#endif
