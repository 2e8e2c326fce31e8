import OperationCore
import OperationDedupe

extension OperationContext {
  var locale: String { sample() }
}
