import Logging
import Operation
