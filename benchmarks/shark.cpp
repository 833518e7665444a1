// Shark's derivatives of a C-SVM, for benchmarks/shark.py: reads a problem, prints the mean derivative of h by the
// parameters of the kernel and by C, and seconds. With a checkout of https://github.com/Shark-ML/Shark (tried: 16a7cecf),
// configured so that include/shark/Core/Shark.h is there, and with Boost's headers and boost_serialization:
//
//     g++ -std=c++11 -O2 -DNDEBUG -I Shark/include benchmarks/shark.cpp Shark/src/Core/Random.cpp -lboost_serialization

#include <chrono>
#include <iostream>

#include <shark/Algorithms/Trainers/CSvmTrainer.h>
#include <shark/Data/Dataset.h>
#include <shark/Models/Kernels/ArdKernel.h>
#include <shark/Models/Kernels/CSvmDerivative.h>
#include <shark/Models/Kernels/GaussianRbfKernel.h>

using namespace shark;
typedef std::chrono::steady_clock Clock;

static double since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

int main() {
    std::size_t n, t, d;
    double C, gamma;
    int each;  // whether every feature has a gamma of its own, whose logarithm is the parameter then
    std::cin >> n >> t >> d >> C >> gamma >> each;
    std::vector<RealVector> X(n + t, RealVector(d));
    std::vector<unsigned int> y(n + t);
    for (std::size_t i = 0; i < n + t; i++) {
        int label;
        std::cin >> label;
        y[i] = label > 0;
        for (std::size_t j = 0; j < d; j++) std::cin >> X[i](j);
    }
    ClassificationDataset data = createLabeledDataFromRange(
        std::vector<RealVector>(X.begin(), X.begin() + n), std::vector<unsigned int>(y.begin(), y.begin() + n));
    GaussianRbfKernel<> one(gamma);
    DenseARDKernel many(d, gamma);
    AbstractKernelFunction<RealVector>* kernel = each ? (AbstractKernelFunction<RealVector>*)&many : &one;
    CSvmTrainer<RealVector, double> trainer(kernel, C, true, false);
    trainer.sparsify() = true;
    trainer.stoppingCondition().minAccuracy = 1e-9;
    KernelClassifier<RealVector> machine;
    Clock::time_point began = Clock::now();
    trainer.train(machine, data);
    double fit = since(began);
    began = Clock::now();
    CSvmDerivative<RealVector> derivative(&machine, &trainer);
    RealVector rates, sum(kernel->numberOfParameters() + 1, 0.0);
    for (std::size_t i = n; i < n + t; i++) {
        derivative.modelCSvmParameterDerivative(X[i], rates);
        sum += rates;
    }
    double gradient = since(began);
    std::cout.precision(17);
    for (std::size_t j = 0; j < sum.size(); j++) std::cout << sum(j) / t << " ";
    std::cout << fit << " " << gradient << std::endl;
}
